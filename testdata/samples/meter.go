// A meter that one goroutine feeds at each end.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

type meter struct {
	_   [64]byte
	in  uint64
	out uint64
	_   [112]byte
}

var traffic meter

func main() {
	runtime.GOMAXPROCS(2)
	var wait sync.WaitGroup
	wait.Add(2)
	go func() {
		defer wait.Done()
		for i := 0; i < 20000000; i++ {
			atomic.AddUint64(&traffic.in, 1)
		}
	}()
	go func() {
		defer wait.Done()
		for i := 0; i < 20000000; i++ {
			atomic.AddUint64(&traffic.out, 1)
		}
	}()
	wait.Wait()
}
