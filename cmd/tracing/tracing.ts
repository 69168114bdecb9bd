import type { Logger } from '../../framework/contract/log.ts'
import type { Server } from '../../framework/server/server.ts'
import { OtlpExporter } from '../../framework/tracing/otlp.ts'
import { Tracing } from '../../framework/tracing/tracing.ts'
import { parseYaml } from '../../framework/wire/yaml.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import type { TracingFlags } from '../flags/tracing.ts'

/** A TracingConfiguration (`k8s.io/component-base/tracing/api/v1`); the endpoint is one of OTLP/HTTP. */
interface TracingConfiguration {
  readonly url: string
  readonly samplingRatePerMillion: number
}

/** The tracing of the flags; undefined without them. Throws `StartError` on an invalid file. */
export async function prepareTracing(
  { tracingConfigFile: file }: TracingFlags,
  log: Logger,
): Promise<Tracing | undefined> {
  if (file === undefined) return undefined
  const text = await readFlagFile('--tracing-config-file', file)
  const { url, samplingRatePerMillion } = configurationOf(text, file)
  return new Tracing(new OtlpExporter({ url, log }), samplingRatePerMillion)
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map(version => `apiserver.config.k8s.io/${version}`)
const known = new Set(['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'])

function configurationOf(text: string, file: string): TracingConfiguration {
  const refuse = (what: string): never => {
    throw new StartError(`--tracing-config-file ${file}: ${what}.`)
  }
  const value = parsed(text) ?? refuse('it is not a TracingConfiguration')
  if (value.kind !== 'TracingConfiguration' || !versions.includes(String(value.apiVersion)))
    refuse('give a TracingConfiguration of apiserver.config.k8s.io/v1')
  for (const field of Object.keys(value))
    if (!known.has(field)) refuse(`unknown field ${JSON.stringify(field)}`)
  const { endpoint = 'localhost:4318', samplingRatePerMillion: rate = 0 } = value
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 0 || rate > 1_000_000)
    refuse('samplingRatePerMillion is a whole number from 0 to 1000000')
  return {
    url:
      urlOf(endpoint) ?? refuse('endpoint is host:port, or an http or https URL, of an OTLP/HTTP receiver'),
    samplingRatePerMillion: Number(rate),
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const { value } = parseYaml(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

function urlOf(endpoint: unknown): string | undefined {
  if (typeof endpoint !== 'string') return undefined
  const text = /^[\w.[\]:-]+:\d+$/.test(endpoint) ? `http://${endpoint}` : endpoint
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '') return undefined
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}

/** A server that sends the last traces after its last response. */
export const closingBoth = (server: Server, tracing: Tracing): Server => ({
  ...server,
  async close(grace) {
    await server.close(grace)
    await tracing.close()
  },
})
