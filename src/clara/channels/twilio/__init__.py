"""WhatsApp through Twilio: signature and form in, REST API out."""
