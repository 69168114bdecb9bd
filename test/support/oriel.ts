import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { root } from './source.ts'

/** A running `oriel start`: the built program in a separate process. */
export interface Oriel {
  readonly directory: string
  readonly kubeconfig: string
  /** `https://127.0.0.1:<port>` */
  readonly url: string
  /** The prefix of the URLs of its views. */
  readonly viewsUrl: string
  /** Its output so far, for messages of failed tests. */
  output(): string
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<number | null>
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Sends SIGKILL, and starts again with the same data at the same port. */
  restart(): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Sends SIGSTOP. */
  pause(): void
  /** Sends SIGCONT. */
  resume(): void
}

export interface OrielOptions {
  /** Data of an earlier run; default: a new temporary directory. */
  readonly directory?: string
  readonly args?: readonly string[]
  /** The maximum size of a file in units of 512 bytes, to simulate a full disk. */
  readonly largestFile?: number
  /** The limit of open files. */
  readonly openFiles?: number
  /** The working directory; default: that of the tests. */
  readonly cwd?: string
  /** Another copy of the program than that of this repository. */
  readonly program?: string
  /** A single executable file, instead of Node and a program. */
  readonly executable?: string
  /** Environment variables besides those of the tests. */
  readonly env?: Readonly<Record<string, string>>
}

/** The program that `bin` names. */
export const compiled = join(root, 'dist/bundle/oriel.cjs')

/**
 * With `TEST_ETCD=127.0.0.1:2379`, servers without `--store` have their objects in that etcd, and with `TEST_STORE=memory:` in
 * memory. With `TEST_REPLICAS=3` each is three processes on one port, whatever its store.
 */
function withStore(directory: string, args: readonly string[]): readonly string[] {
  const { TEST_ETCD, TEST_REPLICAS, TEST_STORE } = process.env
  if (args.includes('--store')) return args
  const replicas =
    TEST_REPLICAS === undefined || args.includes('--watch') ? [] : ['--replicas', TEST_REPLICAS]
  const store = TEST_STORE === undefined ? [] : ['--store', TEST_STORE]
  if (TEST_ETCD === undefined) return [...args, ...store, ...replicas]
  const prefix = directory.replaceAll(sep, '-').replace(/^-?/, '/')
  return [...args, '--store', `etcd://${TEST_ETCD}`, '--etcd-prefix', prefix, ...replicas]
}

/** Starts the server on a free port and waits until it is ready. */
export async function startOriel(options: OrielOptions = {}): Promise<Oriel> {
  const { program = compiled, cwd } = options
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm run build`)
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'oriel-')))
  const launch = (port: string): ChildProcess => {
    const more = withStore(directory, options.args ?? [])
    const own = options.executable === undefined ? [process.execPath, program] : [options.executable]
    const line = [...own, 'start', '--data-directory', directory, '--port', port, ...more]
    const [command, ...rest] = limited(line, options)
    const env = { ...process.env, ...options.env }
    return spawn(command as string, rest, { stdio: ['ignore', 'pipe', 'pipe'], env, ...(cwd && { cwd }) })
  }
  let child = launch('0')
  let output = collect(child)
  const url = await listening(child, output)
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const end = (signal: NodeJS.Signals): Promise<number | null> => endOf(child, signal)
  return {
    directory,
    kubeconfig,
    url,
    viewsUrl: url,
    output: () => output(),
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    signal: signal => void child.kill(signal),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await end('SIGKILL')
      child = launch(new URL(url).port)
      output = collect(child)
      await listening(child, output)
    },
  }
}

/** The command line under the limits of the options. */
function limited(
  line: readonly string[],
  { largestFile, openFiles }: Pick<OrielOptions, 'largestFile' | 'openFiles'>,
): readonly string[] {
  const limits = [
    ...(largestFile === undefined ? [] : [`ulimit -f ${largestFile};`]),
    ...(openFiles === undefined ? [] : [`ulimit -n ${openFiles};`]),
  ]
  return limits.length === 0 ? line : ['sh', '-c', `${limits.join(' ')} exec "$@"`, 'sh', ...line]
}

/** Ends a process, and waits for it; returns its exit code. */
export async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill(signal)
  await once(child, 'exit')
  return child.exitCode
}

/** Stops a server and removes its data. */
export async function discard(oriel: Oriel): Promise<void> {
  await oriel.stop()
  await rm(oriel.directory, { recursive: true, force: true })
}

function collect(child: ChildProcess): () => string {
  const chunks: string[] = []
  child.stdout?.setEncoding('utf8').on('data', chunk => chunks.push(chunk))
  child.stderr?.setEncoding('utf8').on('data', chunk => chunks.push(chunk))
  return () => chunks.join('')
}

/** Resolves with the printed URL; rejects when the process ends first. */
function listening(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const url = /https:\/\/[^\s/]+:\d+/.exec(output())?.[0]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', look)
    // All output has arrived at `close`.
    child.on('close', code => reject(new Error(`oriel start ended with ${code}:\n${output()}`)))
  })
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program and returns its outcome; never rejects for a non-zero exit code. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...options.env }
    const child = execFile(
      command,
      args,
      { env, maxBuffer: 1 << 26, cwd: options.cwd ?? root },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') reject(error)
        else resolve({ code: Number(error?.code ?? 0), stdout, stderr })
      },
    )
    // A program may end without reading its input; its exit code tells why.
    child.stdin?.on('error', () => undefined).end(options.input ?? '')
  })
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
}

/** kubectl with one context of a server: fails the test, with the whole output, on a non-zero exit code. */
export interface Kubectl {
  (args: readonly string[], input?: string): Promise<string>
  /** The outcome, for refusals. */
  try(args: readonly string[], input?: string): Promise<Outcome>
  /** The output until it satisfies the condition: for commands that do not end by themselves. */
  until(args: readonly string[], isEnough: (printed: string) => boolean | Promise<boolean>): Promise<string>
  /** The same user at another URL below the server, such as `/clusters/root:org`. */
  at(path: string): Kubectl
  json<T = unknown>(args: readonly string[]): Promise<T>
}

/** The connection data that kubectl needs. */
export type Reachable = Pick<Oriel, 'kubeconfig' | 'directory' | 'url'>

/**
 * Arguments of kubectl, in which the path of `--raw` is one below `origin`: since 1.34 kubectl adds it to the path of the
 * server (client-go rest/request.go Request.RequestURI), and before 1.34 it replaced that path.
 */
export const fromRoot = (args: readonly string[], origin: string): readonly string[] =>
  args.includes('--raw') && args[0] !== 'config' ? [...args, '--server', origin] : args

export function kubectlFor(oriel: Reachable, context: string): Kubectl {
  return kubectlAt(oriel, ['--kubeconfig', oriel.kubeconfig, '--context', context])
}

/** A token of the service account `default`, which a controller creates after its namespace. */
export async function tokenOfDefault(kubectl: Kubectl, ...more: string[]): Promise<string> {
  await kubectl(['wait', '--for=create', '--timeout=60s', 'serviceaccount/default'])
  return (await kubectl(['create', 'token', 'default', ...more])).trim()
}

function kubectlAt(oriel: Reachable, base: readonly string[]): Kubectl {
  // Garbage collection is a quarter of the time of a short run of kubectl.
  const env = { KUBECACHEDIR: join(oriel.directory, 'kubectl-cache'), GOGC: 'off' }
  const attempt = (args: readonly string[], input?: string) =>
    run(process.env.KUBECTL ?? 'kubectl', [...base, ...fromRoot(args, oriel.url)], {
      env,
      ...(input !== undefined && { input }),
    })
  const checked = async (args: readonly string[], input?: string): Promise<string> => {
    const outcome = await attempt(args, input)
    if (outcome.code !== 0)
      throw new Error(`kubectl ${args.join(' ')}: ${outcome.code}\n${outcome.stdout}${outcome.stderr}`)
    return outcome.stdout
  }
  const until: Kubectl['until'] = (args, isEnough) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.env.KUBECTL ?? 'kubectl', [...base, ...args], {
        env: { ...process.env, ...env },
      })
      const printed = collect(child)
      const look = async (): Promise<void> => {
        if (!(await isEnough(printed()))) return
        resolve(printed())
        child.kill()
      }
      child.stdout.on('data', look)
      child.on('exit', code =>
        reject(new Error(`kubectl ${args.join(' ')} ended with ${code}: ${printed()}`)),
      )
    })
  return Object.assign(checked, {
    try: attempt,
    until,
    at: (path: string) =>
      kubectlAt(oriel, [...base, '--server', path.startsWith('https:') ? path : oriel.url + path]),
    json: async <T>(args: readonly string[]) => JSON.parse(await checked([...args, '-o', 'json'])) as T,
  })
}

/**
 * Retries until the response satisfies the condition, for state that controllers write. The limit only ends a test that
 * hangs.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfied: (answer: T) => boolean,
  limit = 60_000,
): Promise<T> {
  const end = Date.now() + limit
  for (;;) {
    const answer = await ask()
    if (satisfied(answer)) return answer
    if (Date.now() > end) throw new Error(`not within ${limit} ms; last: ${JSON.stringify(answer)}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

export const readText = (path: string): Promise<string> => readFile(path, 'utf8')
