package gateway

import (
	"math/rand"
	"time"
)

// Retry calls again after a failure, waiting twice as long each time, with jitter.
func Retry(tries int, call func() error) error {
	wait := 100 * time.Millisecond
	var err error
	for i := 0; i < tries; i++ {
		if err = call(); err == nil {
			return nil
		}
		time.Sleep(wait + time.Duration(rand.Int63n(int64(wait))))
		wait *= 2
	}
	return err
}
