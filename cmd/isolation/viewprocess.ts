import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type HttpClient } from '../../framework/net/client.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { invocation } from '../process/invocation.ts'
import { type Isolation, newSecret } from './isolation.ts'
import { announced, type IsolatedConfig, type PublishedUrls } from './messages.ts'
import { identityHeaders } from './privateheaders.ts'

/** Whether a process can lead a group, which is ended as a whole. */
const hasGroups = process.platform !== 'win32'

/** The plugin of a process. */
export interface IsolatedPlugin extends Pick<IsolatedConfig, 'view' | 'options' | 'fresh'> {
  /** Mebibytes: the process is ended when it has more in memory. */
  readonly memory: number
}

/** Milliseconds: until the views are announced, and from SIGTERM to SIGKILL. */
const startTimeout = 60_000
const grace = 2_000

/** Longer announcements are cut off. */
const mostAnnounced = 1 << 20

/** The process of a plugin, with the programs that the plugin starts. They end with this process. */
export class ViewProcess {
  readonly client: HttpClient
  readonly pid: number
  /** Its Unix socket. */
  readonly socketPath: string
  /** The views, when they are made. Rejects with an `Error` that names file and line of a mistake. */
  readonly announced: Promise<ReturnType<typeof announced>>
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>
  hasEnded = false
  readonly #child: ChildProcess
  readonly #secret = newSecret()
  #reason: string | undefined

  constructor(plugin: IsolatedPlugin, { folder, shard, logLevel }: Isolation) {
    const { view, options, fresh, memory } = plugin
    const socketPath = join(folder, `${randomBytes(6).toString('hex')}.sock`)
    this.socketPath = socketPath
    this.client = createClient({ socketPath })
    // Log lines go to the log of this process; what the plugin prints must not be in the output of this process.
    const { args, env } = invocation(limitsOf(memory), ['isolated-view'])
    this.#child = spawn(process.execPath, args, {
      env,
      stdio: ['pipe', 2, 2, 'pipe'],
      detached: hasGroups,
    })
    this.pid = this.#child.pid ?? 0
    this.ended = this.#ending()
    const config = { view, options, fresh, socketPath, secret: this.#secret, shard, logLevel }
    this.#send(config satisfies IsolatedConfig)
    this.announced = this.#announcement()
    // The caller may ask for it later.
    this.announced.catch(() => undefined)
  }

  /** The headers of a request of a user. */
  headersOf(user: UserInfo): Readonly<Record<string, string>> {
    return identityHeaders(this.#secret, user)
  }

  /** Begins to serve at the first call; later ones change the URLs. */
  publish(urls: PublishedUrls): void {
    this.#send(urls)
  }

  /** Ends the process at once. */
  kill(reason: string): void {
    this.#reason ??= reason
    if (!this.hasEnded) this.#killAll()
  }

  /** Lets the process end its requests. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await Promise.race([this.ended, sleep(grace, undefined, { ref: false })])
    this.kill('it was stopped')
    await this.ended
  }

  /** Ends the process, and the programs that it has started, which go on when it has ended by itself. */
  #killAll(): void {
    if (this.pid === 0) return
    try {
      process.kill(hasGroups ? -this.pid : this.pid, 'SIGKILL')
    } catch {
      // All have ended.
    }
  }

  #send(line: object): void {
    const { stdin } = this.#child as { stdin: Writable }
    if (stdin.writable) stdin.write(`${JSON.stringify(line)}\n`)
  }

  #ending(): Promise<string> {
    const child = this.#child
    const killWithThis = (): void => this.#killAll()
    process.once('exit', killWithThis)
    // A process that has ended does not read.
    child.stdin?.on('error', () => undefined)
    return new Promise(resolve => {
      const end = (reason: string): void => {
        this.hasEnded = true
        this.#killAll()
        process.removeListener('exit', killWithThis)
        void this.client.destroy()
        resolve(this.#reason ?? reason)
      }
      child.once('error', ({ message }) => end(`it could not be started: ${message}`))
      child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
  }

  async #announcement() {
    const late = setTimeout(() => this.kill('it did not announce its views'), startTimeout)
    try {
      return announced(await lineOf(this.#child.stdio[3] as Readable))
    } catch (error) {
      // Nobody uses it: the next start is another process.
      this.kill('its announcement is wrong')
      throw error
    } finally {
      clearTimeout(late)
    }
  }
}

/** The first line of a stream, or all of it. */
async function lineOf(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > mostAnnounced) break
  }
  return text.split('\n', 1)[0] ?? ''
}

/** The bytes of headers that a process accepts: the user may be in many groups. */
const mostHeaders = 1 << 20

const limitsOf = (memory: number): readonly string[] => [
  `--max-old-space-size=${memory}`,
  `--max-http-header-size=${mostHeaders}`,
]
