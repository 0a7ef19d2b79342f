package gateway;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** A pool that lends database connections to threads. */
public class Pool implements AutoCloseable {
    private final BlockingQueue<Connection> free;

    /** Opens all connections at once. */
    public Pool(Factory factory, int size) {
        free = new ArrayBlockingQueue<>(size);
        for (int i = 0; i < size; i++) {
            free.add(factory.connect());
        }
    }

    /** Waits for a free connection of the pool and lends it. */
    public Connection borrow() throws InterruptedException {
        return free.take();
    }

    /** Ends every connection. */
    @Override
    public void close() {
        free.forEach(Connection::close);
    }

    /** Opens connections. */
    public interface Factory {
        Connection connect();
    }

    enum State {
        OPEN,
        CLOSED
    }
}
