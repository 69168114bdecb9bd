import type { Client } from '../support/client.ts'
import { comparable } from './comparable.ts'
import type { Said, Step } from './step.ts'

/** An answer without what every server sets for itself. */
export interface Outcome {
  readonly status: number
  readonly type: string
  readonly warnings: string
  readonly body: unknown
}

/** Plays the corpus against one server, and remembers what the server said of each object. */
export function player(client: Client): (step: Step) => Promise<Outcome> {
  const said = new Map<string, Said>()
  return async step => {
    const known = said.get(step.object ?? '') ?? { resourceVersion: '1', uid: 'unknown' }
    const response = await client.open(step.path, step.sent(known))
    const streams = /[?&]watch=/.test(step.path) && response.statusCode === 200
    const text = streams ? '' : await textOf(response)
    if (streams) response.destroy()
    const body = parsed(text)
    remember(said, step, body)
    return {
      status: response.statusCode ?? 0,
      type: response.headers['content-type'] ?? '',
      warnings: String(response.headers.warning ?? ''),
      body: comparable(body, known),
    }
  }
}

async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function remember(said: Map<string, Said>, { object }: Step, body: unknown): void {
  const { kind, metadata } = (body ?? {}) as { kind?: string; metadata?: Partial<Said> }
  if (object === undefined || kind === 'Status' || metadata?.uid === undefined) return
  said.set(object, { resourceVersion: metadata.resourceVersion ?? '', uid: metadata.uid })
}
