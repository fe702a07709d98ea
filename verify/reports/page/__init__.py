"""The report as one HTML file: what is known of every result, offline, from what is recorded."""
