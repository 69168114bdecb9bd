import type { RequestContext } from '../../framework/contract/context.ts'
import type { ShardAnswer } from './connection.ts'

const warning = /299 \S+ "((?:[^"\\]|\\.)*)"/g

/** Tells the client what the shard has warned of (chapter 40, rule 1.53). */
export function passWarnings({ record }: RequestContext, { headers }: ShardAnswer): void {
  for (const [, text = ''] of String(headers.warning ?? '').matchAll(warning))
    record.warn(Buffer.from(text.replace(/\\(.)/g, '$1'), 'latin1').toString())
}
