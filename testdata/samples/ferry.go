// Each goroutine counts its passengers in its own deck of a slice; with a pad
// of 7 words a deck has a line of its own.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

type deck struct {
	boarded int64
}

// Set when it is linked: -ldflags=-X=main.pad=yes
var pad string

func buildDecks(count int) ([]deck, int) {
	step := 1
	if pad != "" {
		step = 16
	}
	return make([]deck, count*step), step
}

func main() {
	runtime.GOMAXPROCS(2)
	decks, step := buildDecks(8)
	var wait sync.WaitGroup
	for me := 0; me < 2; me++ {
		wait.Add(1)
		go func(mine *deck) {
			defer wait.Done()
			for i := 0; i < 90000000; i++ {
				atomic.AddInt64(&mine.boarded, 1)
			}
		}(&decks[me*step])
	}
	wait.Wait()
	fmt.Println(decks[0].boarded, decks[step].boarded)
}
