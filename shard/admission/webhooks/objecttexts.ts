import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { JsonPieces } from '../../../framework/wire/jsonpieces.ts'
import { clusterAnnotation } from '../../../kcp/annotations.ts'
import { type Review, reviewBody } from '../../webhook/reviewbody.ts'

/** Adds the logical cluster of the object, for webhooks that serve several. */
export const withCluster = (object: KubeObject, cluster: string): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, [clusterAnnotation]: cluster },
  },
})

export function withoutCluster(object: KubeObject): KubeObject {
  const { annotations, ...metadata } = object.metadata
  const { [clusterAnnotation]: _, ...rest } = annotations ?? {}
  const isEmpty = Object.keys(rest).length === 0
  return { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: rest } }
}

const none = Buffer.from('null')

/** The JSON of objects in reviews. It is made once for all webhooks that see the same object of a write. */
export class ObjectTexts {
  readonly #known = new WeakMap<KubeObject, Promise<Buffer>>()

  /** The JSON of a review with the objects of a write. */
  async review(
    review: Review,
    { object, old, key }: Pick<AdmissionAttributes, 'object' | 'old' | 'key'>,
  ): Promise<readonly Buffer[]> {
    return reviewBody(review, {
      object: await this.#of(object, key.cluster),
      oldObject: await this.#of(old, key.cluster),
    })
  }

  #of(object: KubeObject | undefined, cluster: string): Promise<Buffer> | Buffer {
    if (object === undefined) return none
    const text = this.#known.get(object) ?? encoded(withCluster(object, cluster))
    this.#known.set(object, text)
    return text
  }
}

async function encoded(object: KubeObject): Promise<Buffer> {
  const pieces = new JsonPieces()
  await inTurns(pieces.value(object), new Pace())
  return pieces.bytes()
}
