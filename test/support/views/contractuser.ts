import type { KubeObject } from '../../../framework/index.ts'
import type { ContractUser, WatchedEvent } from '../../../testing/index.ts'
import type { Client } from '../client.ts'

/** The client of a server as the user of the contract suites. */
export function contractUser(client: Client): ContractUser {
  const request: ContractUser['request'] = async (path, { method = 'GET', headers = {}, body } = {}) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const sent = {
      method,
      headers: { 'content-type': type, ...headers },
      ...(body !== undefined && { body }),
    }
    const { status, text, headers: received } = await client(path, sent)
    const isJson = received['content-type']?.startsWith('application/json')
    const warning = String(received.warning ?? '')
    return { status, text, object: isJson ? JSON.parse(text) : undefined, warning }
  }
  return {
    request,
    async list(path) {
      const { status, text, object } = await request(path)
      if (object?.items === undefined) throw new Error(`GET ${path}: ${status} ${text}`)
      return object.items
    },
    async watch(path) {
      const stream = await client.watch(`${path}${path.includes('?') ? '&' : '?'}watch=true`)
      const events: WatchedEvent[] = []
      return {
        async until(isEnough) {
          while (!isEnough(events)) {
            const next = await stream.next()
            if (next === undefined) throw new Error('the watch has ended')
            events.push(next as { readonly type: string; readonly object: KubeObject })
          }
          return events
        },
        close: () => stream.leave(),
      }
    },
  }
}
