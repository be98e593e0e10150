"""Infrastructure: database, broker, bus, disk, binary columns."""
