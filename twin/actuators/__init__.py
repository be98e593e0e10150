"""Changes to waiting jobs on real clusters: one actuator per file; base.py lists the kinds of cluster."""
