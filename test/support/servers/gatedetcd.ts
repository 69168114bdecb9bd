import { type Etcd, startEtcd } from './etcd.ts'
import { type Gate, openGate } from './gate.ts'

/** Etcd, and a gate on the way to it. */
export interface GatedEtcd {
  readonly etcd: Etcd
  readonly gate: Gate
  /** The address of the gate. */
  readonly endpoint: string
}

/** Starts etcd behind a gate before the tests of a suite, and stops both after them. */
export function gatedEtcd(): () => GatedEtcd {
  let started: GatedEtcd
  before(async () => {
    const etcd = await startEtcd()
    const gate = await openGate(Number(etcd.endpoint.split(':')[1]))
    started = { etcd, gate, endpoint: `127.0.0.1:${gate.port}` }
  })
  after(async () => {
    await started.gate.close()
    await started.etcd.stop()
  })
  return () => started
}
