"""The scheduling core: pure values and algorithms (numpy, scipy, standard library); no I/O, no clock, no framework."""
