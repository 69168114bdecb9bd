import { Session } from 'node:inspector'

// Loaded with `--import` before a program. Answers each message `take` of the parent process with the files whose
// functions ran since the last message (V8's precise coverage).

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', message => {
  if (message !== 'take') return
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw new Error(error.message)
    process.send?.({ files: taken.result.filter(hasRun).map(({ url }) => url) })
  })
})
// The channel to the parent process does not keep the program running.
process.channel?.unref()

interface Covered {
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
  }[]
}

/** A range that starts at 0 is the body of the file, which runs when the file is loaded. */
function hasRun({ functions }: Covered): boolean {
  return functions.some(({ ranges }) => ranges.some(({ startOffset, count }) => startOffset > 0 && count > 0))
}
