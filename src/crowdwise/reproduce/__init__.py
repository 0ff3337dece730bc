"""The paper's tables run again: settings, cells, suites, and every number beside the paper's."""
