// Load sends requests to a Kubernetes API over TLS and prints what they took. It reads one JSON document per line from
// standard input and answers each with one line. It uses Go's HTTP client, as client-go does.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Target is a server, and the credentials of the requests.
type Target struct {
	URL   string `json:"url"`
	CA    string `json:"ca"`
	Token string `json:"token"`
	HTTP2 bool   `json:"http2"`
}

// Requests are sent by workers, each with a connection of its own: number i has path i modulo their number. "%d" in a
// path and in the body is i.
type Requests struct {
	Method      string   `json:"method"`
	Paths       []string `json:"paths"`
	Body        string   `json:"body"`
	ContentType string   `json:"contentType"`
	Workers     int      `json:"workers"`
	Count       int      `json:"count"`
	// Until: after its response, a request of this path is repeated until the response has the text.
	Until    string `json:"until"`
	UntilHas string `json:"untilHas"`
	// PerSecond: requests are begun at this rate; 0: as soon as a worker is free.
	PerSecond float64 `json:"perSecond"`
}

// Task is one measurement: requests, and watches of a path that are open meanwhile and end with one event for each request.
type Task struct {
	Target   Target   `json:"target"`
	Requests Requests `json:"requests"`
	Watches  int      `json:"watches"`
	Watched  string   `json:"watched"`
}

// Result has durations in milliseconds.
type Result struct {
	Error     string  `json:"error,omitempty"`
	Seconds   float64 `json:"seconds"`
	P50       float64 `json:"p50"`
	P99       float64 `json:"p99"`
	Bytes     int64   `json:"bytes"`
	Delivered float64 `json:"delivered"` // Seconds until all watches have all events.
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var task Task
		if err := json.Unmarshal(lines.Bytes(), &task); err != nil {
			panic(err)
		}
		answer, err := json.Marshal(run(task))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(answer))
	}
}

func run(task Task) Result {
	watches, err := openWatches(task)
	if err != nil {
		return Result{Error: err.Error()}
	}
	begin := time.Now()
	result := sendAll(task.Target, task.Requests)
	if result.Error == "" && task.Watches > 0 {
		for range task.Watches {
			if err := <-watches; err != nil {
				return Result{Error: err.Error()}
			}
		}
		result.Delivered = time.Since(begin).Seconds()
	}
	return result
}

func (target Target) client() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(target.CA))
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: target.HTTP2,
		MaxConnsPerHost:   1,
	}
	if !target.HTTP2 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	return &http.Client{Transport: transport}
}

func (target Target) open(client *http.Client, method, path, contentType, body string) (*http.Response, error) {
	request, err := http.NewRequest(method, target.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+target.Token)
	request.Header.Set("Accept", "application/json")
	if body != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		return nil, fmt.Errorf("%s %s: %d %.300s", method, path, response.StatusCode, text)
	}
	return response, nil
}

func (target Target) ask(client *http.Client, method, path, contentType, body string) ([]byte, error) {
	response, err := target.open(client, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// openWatches opens watches that end after an event for each request. Each of them sends nil, or why it ended before.
func openWatches(task Task) (<-chan error, error) {
	ended := make(chan error, task.Watches)
	for i := 0; i < task.Watches; i++ {
		response, err := task.Target.open(task.Target.client(), "GET", task.Watched, "", "")
		if err != nil {
			return nil, err
		}
		go func() {
			defer response.Body.Close()
			ended <- readEvents(response.Body, task.Requests.Count)
		}()
	}
	return ended, nil
}

// readEvents reads a watch until it had this many ADDED events.
func readEvents(body io.Reader, count int) error {
	reader := bufio.NewReaderSize(body, 1<<16)
	for events := 0; events < count; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("a watch ended after %d of %d events: %w", events, count, err)
		}
		head := line[:min(len(line), 40)]
		if bytes.Contains(head, []byte(`"ERROR"`)) {
			return fmt.Errorf("a watch ended after %d of %d events: %.300s", events, count, line)
		}
		if bytes.Contains(head, []byte(`"ADDED"`)) {
			events++
		}
	}
	return nil
}

// sendAll sends the requests by the workers.
func sendAll(target Target, requests Requests) Result {
	var next, received atomic.Int64
	var failure atomic.Value
	times := make([]float64, requests.Count)
	begin := time.Now()
	var workers sync.WaitGroup
	for w := 0; w < requests.Workers; w++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			client := target.client()
			defer client.CloseIdleConnections()
			for {
				i := int(next.Add(1)) - 1
				if i >= requests.Count || failure.Load() != nil {
					return
				}
				if requests.PerSecond > 0 {
					time.Sleep(time.Until(begin.Add(time.Duration(float64(i) / requests.PerSecond * float64(time.Second)))))
				}
				sent := time.Now()
				length, err := sendOne(target, client, requests, i)
				if err != nil {
					failure.Store(err.Error())
					return
				}
				times[i] = float64(time.Since(sent).Microseconds()) / 1000
				received.Add(int64(length))
			}
		}()
	}
	workers.Wait()
	seconds := time.Since(begin).Seconds()
	if message := failure.Load(); message != nil {
		return Result{Error: message.(string)}
	}
	sort.Float64s(times)
	at := func(share float64) float64 { return times[int(share*float64(len(times)-1))] }
	return Result{Seconds: seconds, P50: at(0.5), P99: at(0.99), Bytes: received.Load()}
}

func sendOne(target Target, client *http.Client, requests Requests, i int) (int, error) {
	number := fmt.Sprint(i)
	numbered := func(text string) string { return strings.ReplaceAll(text, "%d", number) }
	path := numbered(requests.Paths[i%len(requests.Paths)])
	body, err := target.ask(client, requests.Method, path, requests.ContentType, numbered(requests.Body))
	if err != nil || requests.Until == "" {
		return len(body), err
	}
	for {
		state, err := target.ask(client, "GET", numbered(requests.Until), "", "")
		if err != nil {
			return 0, err
		}
		if strings.Contains(string(state), requests.UntilHas) {
			return len(state), nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}
