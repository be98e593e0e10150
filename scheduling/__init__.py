"""The scheduling core: pure values and algorithms (numpy, scipy, highspy, standard library); no I/O, no clock, no framework."""
