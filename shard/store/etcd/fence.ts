import { JoinedRead } from '../joinedread.ts'
import type { EtcdConnection } from './connection.ts'
import { EpochEnded } from './epochended.ts'
import type { Layout } from './layout.ts'
import { decodeTxn, encodeTxn, type ValueCompare } from './messages.ts'

/**
 * A key whose revision every write without a revision of its own compares. An attempt whose response did not arrive may still
 * be on its way to etcd: when the key is written before the next attempt, etcd refuses the earlier one, however late it is.
 */
export class Fence {
  readonly #connection: EtcdConnection
  readonly #key: Buffer
  readonly #owner: ValueCompare
  readonly #raises: JoinedRead<void>
  /** The `mod_revision` of the key that this server knows; 0: it is missing. */
  #revision = 0

  /** `record`: of the installation whose fence it is. */
  constructor(connection: EtcdConnection, { fence, installation }: Layout, record: Buffer) {
    this.#connection = connection
    this.#key = fence
    this.#owner = { key: installation, value: record }
    this.#raises = new JoinedRead(() => this.#raise())
  }

  get key(): Buffer {
    return this.#key
  }

  get revision(): number {
    return this.#revision
  }

  /** Another server has written the key. */
  follow(revision: number): void {
    this.#revision = Math.max(this.#revision, revision)
  }

  /** Ends all attempts that began before. Throws `EtcdFailure`, and `EpochEnded` when etcd has another installation. */
  raise(): Promise<void> {
    return this.#raises.call()
  }

  async #raise(): Promise<void> {
    const put = { put: { key: this.#key, value: Buffer.alloc(0) } }
    const request = encodeTxn({ compare: [this.#owner], success: [put], failure: [] })
    const { response } = await this.#connection.call({
      path: '/etcdserverpb.KV/Txn',
      request,
      decode: decodeTxn,
    })
    if (!response.succeeded) throw new EpochEnded()
    this.follow(response.header.revision)
  }
}
