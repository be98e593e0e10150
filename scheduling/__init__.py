"""The scheduling core: pure values and algorithms (numpy, scipy, highspy, stdlib); no I/O, no clock, no framework."""
