"""Changes of waiting jobs on real clusters. One actuator a file; which kinds of cluster there are, base.py lists."""
