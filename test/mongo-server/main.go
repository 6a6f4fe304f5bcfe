// Command mongo-server speaks the MongoDB protocol over SQLite files: FerretDB without its frame.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "TCP address; port 0 takes a free one")
	data := flag.String("data", "", "existing folder of the data files")
	flag.Parse()

	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: *address},
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:  "sqlite",
		// The data is to survive SIGKILL, not a power cut: syncing would make every suite wait.
		SQLiteURL: "file:" + *data + "/?_pragma=synchronous(off)",
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	ctx, stop := context.WithCancel(context.Background())
	go func() {
		// Ends with the process that started it, however that one ended.
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	go func() { fmt.Println("listening", server.MongoDBURI()) }()
	server.Run(ctx)
}
