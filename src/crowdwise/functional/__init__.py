"""Pure tensor mathematics: the paper's equations in the form that is fast, shapes in comments.

Every function here has a slow twin, the definition written out, in tests/functional/.
"""
