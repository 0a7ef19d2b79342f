// Package gateway keeps connections to the database open.
package gateway

import "errors"

// ErrClosed says that the pool was closed.
var ErrClosed = errors.New("closed")

// Conn is one open connection.
type Conn struct {
	ID   int
	Busy bool
}

// Dialer opens connections.
type Dialer interface {
	Dial(address string) (*Conn, error)
}

// Pool is a database connection pool shared by goroutines.
type Pool struct {
	free chan *Conn
}

// NewPool opens size connections to the database ahead of their use.
func NewPool(dialer Dialer, address string, size int) (*Pool, error) {
	pool := &Pool{free: make(chan *Conn, size)}
	for i := 0; i < size; i++ {
		conn, err := dialer.Dial(address)
		if err != nil {
			return nil, err
		}
		pool.free <- conn
	}
	return pool, nil
}

// Take borrows a connection and waits while none is free.
func (p *Pool) Take() *Conn {
	conn := <-p.free
	conn.Busy = true
	return conn
}

// Put gives a connection back to the pool.
func (p *Pool) Put(conn *Conn) {
	conn.Busy = false
	p.free <- conn
}
