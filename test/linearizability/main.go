// Checks whether a history of reads and writes of single keys is linearizable. The history is what test/faults/history.ts
// records: a JSON list of operations. Versions of objects are not used, so that this check and that of history.ts share nothing.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a request as its client saw it. Ended is absent when the outcome is unknown; times are in milliseconds.
type operation struct {
	Client int      `json:"client"`
	Kind   string   `json:"kind"`
	Key    string   `json:"key"`
	Value  string   `json:"value"`
	Begun  float64  `json:"begun"`
	Ended  *float64 `json:"ended"`
}

// register is one key: a read returns the value of the latest write.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		op := input.(operation)
		if op.Kind == "write" {
			return true, op.Value
		}
		return op.Value == state.(string), state
	},
}

const limit = 5 * time.Minute

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all []operation
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	byKey := map[string][]operation{}
	for _, op := range all {
		byKey[op.Key] = append(byKey[op.Key], op)
	}
	for key, operations := range byKey {
		history := historyOf(operations)
		if result := porcupine.CheckOperationsTimeout(register, history, limit); result != porcupine.Ok {
			return fmt.Errorf("%s: %d operations: %s", key, len(operations), result)
		}
	}
	fmt.Printf("%d operations on %d keys: linearizable\n", len(all), len(byKey))
	return nil
}

// historyOf has the operations of one key. A write with an unknown outcome was executed before the end of the first read of its
// value, which no other write has. Without such a read it is left out, because it may have been executed after all others, or
// never: with it, the number of orders to try would double.
func historyOf(operations []operation) []porcupine.Operation {
	firstRead := map[string]float64{}
	for _, op := range operations {
		if op.Kind == "read" && op.Ended != nil {
			ended, found := firstRead[op.Value]
			if !found || *op.Ended < ended {
				firstRead[op.Value] = *op.Ended
			}
		}
	}
	var history []porcupine.Operation
	for _, op := range operations {
		ended, isKnown := firstRead[op.Value]
		if op.Ended != nil {
			ended, isKnown = *op.Ended, true
		}
		if isKnown {
			history = append(history, converted(op, math.Max(op.Begun, ended)))
		}
	}
	return history
}

func converted(op operation, ended float64) porcupine.Operation {
	return porcupine.Operation{ClientId: op.Client, Input: op, Call: nanoseconds(op.Begun), Return: nanoseconds(ended)}
}

func nanoseconds(milliseconds float64) int64 { return int64(milliseconds * 1e6) }
