import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { atOnce } from '../../framework/json/json.ts'
import { magic } from '../../framework/wire/protobuf/fields.ts'
import { protobufSteps } from '../../framework/wire/protobuf/parse.ts'
import { parseYaml } from '../../framework/wire/yaml.ts'
import type { Client } from '../support/client.ts'
import { comparable } from './comparable.ts'
import type { Said, Step } from './step.ts'

/** A response without values that every server sets itself. */
export interface Outcome {
  readonly status: number
  readonly type: string
  readonly warnings: string
  readonly body: unknown
}

/** The uid of an object that the server has not returned yet; it differs from every other word of a response. */
const unknownUid = '00000000-0000-0000-0000-000000000000'

/** Plays the corpus against one server, and stores the latest response about each object. */
export function player(client: Client): (step: Step) => Promise<Outcome> {
  const said = new Map<string, Said>()
  return async step => {
    const known = said.get(step.object ?? '') ?? { resourceVersion: '1', uid: unknownUid }
    const response = await client.open(step.path, step.sent(known))
    const answered = await bodyOf(response, step)
    const body = isHidden(answered, step) ? await withObject(client, answered, step) : answered
    remember(said, step, body)
    return {
      status: response.statusCode ?? 0,
      type: response.headers['content-type'] ?? '',
      warnings: String(response.headers.warning ?? ''),
      body: comparable(body, known),
    }
  }
}

/** The body of a response; of a stream its initial events, when it marks their end. */
async function bodyOf(response: IncomingMessage, { path }: Step): Promise<unknown> {
  if (!/[?&]watch=/.test(path) || response.statusCode !== 200)
    return parsed(await bytesOf(response), response.headers['content-type'] ?? '')
  const events = path.includes('allowWatchBookmarks') ? await initialEvents(response) : ''
  response.destroy()
  return events
}

async function bytesOf(response: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Sorted, because each server has its own order. */
async function initialEvents(response: IncomingMessage): Promise<unknown> {
  const events: string[] = []
  for await (const line of createInterface({ input: response })) {
    events.push(line)
    if (line.includes('k8s.io/initial-events-end')) break
  }
  return { kind: 'Events', items: events.map(event => JSON.parse(event)).sort(byName) }
}

const byName = (one: unknown, other: unknown): number => (nameIn(one) < nameIn(other) ? -1 : 1)
const nameIn = (event: unknown): string => /"name":"([^"]*)"/.exec(JSON.stringify(event))?.[1] ?? ''

function parsed(bytes: Buffer, type: string): unknown {
  if (type.startsWith('application/yaml')) return parseYaml(bytes.toString()).value
  if (bytes.subarray(0, magic.length).equals(magic)) return atOnce(protobufSteps(bytes))
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return bytes.toString()
  }
}

/** Whether a response does not contain the resulting object. */
const isHidden = (body: unknown, { object }: Step): boolean =>
  object !== undefined && ['Table', 'Scale'].includes((body as { kind?: string } | null)?.kind ?? '')

/** Adds the object to the response. */
async function withObject(client: Client, answered: unknown, { object = '' }: Step): Promise<unknown> {
  return { ...(await client(object)).json<object>(), answered }
}

function remember(said: Map<string, Said>, { object }: Step, body: unknown): void {
  const { kind, metadata } = (body ?? {}) as { kind?: string; metadata?: Partial<Said> }
  if (object === undefined || kind === 'Status' || metadata?.uid === undefined) return
  said.set(object, { resourceVersion: metadata.resourceVersion ?? '', uid: metadata.uid })
}
