import { notServed } from '../meta/errors.ts'
import type { Answer } from '../request/response.ts'
import { text } from '../responses/textanswer.ts'

/** A named health check of the server. */
export interface HealthCheck {
  readonly name: string
  /** Whether a failure requires a restart: `/livez` and `/healthz` include the check, too. */
  readonly live?: boolean
  /** A failure is shown, and fails only `/readyz/<name>`: the rest of the server works. */
  readonly optional?: boolean
  /** An error means failed. */
  healthy(): boolean | Promise<boolean>
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz'

/** The response of `/healthz`, `/livez`, `/readyz` and `/readyz/<name>` (rules.md 8.28 to 8.30). */
export async function healthAnswer(
  checks: readonly HealthCheck[],
  path: string,
  query: URLSearchParams,
): Promise<Answer> {
  const [endpoint = '', name] = path.replace(/^\/|\/$/g, '').split(/\/(.*)/s)
  const all = endpoint === 'readyz' ? checks : checks.filter(check => check.live)
  const asked = name ? all.filter(check => check.name === name) : all
  if (name && asked.length === 0) throw notServed()
  const excluded = new Set(query.getAll('exclude'))
  const results = await Promise.all(asked.map(check => resultOf(check, excluded)))
  const healthy = results.every(result => result.healthy || (result.optional && !name))
  const unknown = [...excluded].filter(wanted => !asked.some(check => check.name === wanted))
  if (healthy && !query.has('verbose')) return text(200, 'ok')
  const lines = [...results.map(result => result.line), ...warningsOf(unknown)]
  return text(healthy ? 200 : 500, `${lines.join('')}${endpoint} check ${healthy ? 'passed' : 'failed'}\n`)
}

async function resultOf(
  check: HealthCheck,
  excluded: ReadonlySet<string>,
): Promise<{ healthy: boolean; optional: boolean; line: string }> {
  const { optional = false } = check
  if (excluded.has(check.name)) return { healthy: true, optional, line: `[+]${check.name} excluded: ok\n` }
  const healthy = await isHealthy(check)
  return {
    healthy,
    optional,
    line: healthy ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`,
  }
}

async function isHealthy(check: HealthCheck): Promise<boolean> {
  try {
    return await check.healthy()
  } catch {
    return false
  }
}

const warningsOf = (names: readonly string[]): readonly string[] =>
  names.length === 0
    ? []
    : [
        `warn: some health checks cannot be excluded: no matches for ${names.map(n => JSON.stringify(n)).join(', ')}\n`,
      ]
