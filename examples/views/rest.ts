import { setTimeout as sleep } from 'node:timers/promises'
import type { OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

interface Station {
  readonly id: string
  readonly celsius: number
}

/** A foreign source: the stations of a REST service as objects. It is asked every `seconds`, with the ETag of its last response. */
const rest: ViewPlugin = (f, { url = 'http://127.0.0.1:8080/stations', cluster = 'root', seconds = 5 }) =>
  f.defineVirtualWorkspace('stations', '/services/stations', ({ log }) => {
    const kind: OwnKind = {
      group: 'weather.example.com',
      version: 'v1',
      resource: 'stations',
      kind: 'Station',
      columns: { Celsius: ({ celsius }) => Number(celsius) },
    }
    const stations = new f.ObjectMap(kind)
    let etag = ''
    const update = async (signal: AbortSignal) => {
      const response = await fetch(String(url), { headers: { 'if-none-match': etag }, signal })
      if (response.status === 304) return
      if (!response.ok) throw new Error(`${url} responded with ${response.status}`)
      const found = (await response.json()) as readonly Station[]
      stations.replace(
        String(cluster),
        found.map(({ id, celsius }) => ({ metadata: { name: id }, celsius })),
      )
      etag = response.headers.get('etag') ?? ''
    }
    const apis = f.apiSetOf([f.resourceOf(kind, f.storageOf(stations))])
    return {
      apis: () => apis,
      async run(ready, signal) {
        while (!signal.aborted) {
          await update(signal).then(ready, error =>
            log.warn({ error: String(error) }, 'the service cannot be read: the last objects are served'),
          )
          await sleep(Number(seconds) * 1000, undefined, { signal }).catch(() => undefined)
        }
      },
    }
  })

export default rest
