"""Pictures and pages about a crowd or a run; nothing here needs torch."""
