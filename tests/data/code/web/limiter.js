/** Lets each client ask so many times a minute (token bucket). */
export class RateLimiter {
  constructor(perMinute) {
    this.perMinute = perMinute;
    this.buckets = new Map();
  }

  /** Whether this client may ask now; each yes costs one. */
  allow(client, now = Date.now()) {
    const bucket = this.refill(client, now);
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }

  refill = (client, now) => {
    const held = this.buckets.get(client) ?? { left: this.perMinute, at: now };
    const left = Math.min(this.perMinute, held.left + ((now - held.at) / 60000) * this.perMinute);
    const bucket = { left, at: now };
    this.buckets.set(client, bucket);
    return bucket;
  };
}
