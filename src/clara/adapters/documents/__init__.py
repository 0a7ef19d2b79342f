"""Documents of the outside as text: HTML, PDF and XML that may be broken or hostile."""
