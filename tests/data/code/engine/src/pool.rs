/// Keeps database connections for reuse; a connection that failed is thrown away.
pub struct ConnectionPool<C> {
    free: Vec<C>,
}

impl<C> ConnectionPool<C> {
    /// Take a connection out of the pool, if one is left.
    pub fn checkout(&mut self) -> Option<C> {
        self.free.pop()
    }

    /// Return a healthy connection to the pool.
    pub fn checkin(&mut self, connection: C) {
        self.free.push(connection);
    }
}

macro_rules! with_connection {
    ($pool:expr, $body:expr) => {
        $pool.checkout().map($body)
    };
}
