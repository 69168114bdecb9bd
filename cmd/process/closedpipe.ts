/** The exit code of a program that SIGPIPE ended, in a shell. */
const endedByPipe = 128 + 13

/** Ends the process when the reader of its output has ended: `oriel doctor | head -n 1`. For commands that print and end. */
export function endWithReader(output: NodeJS.WriteStream): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(endedByPipe)
  })
}

/** Keeps a server running when the reader of its first lines has ended: `oriel start | head -n 1`. */
export function outliveReader(output: NodeJS.WriteStream): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
