"""The report as one HTML file: the standing of every result, offline, from the recorded entries."""
