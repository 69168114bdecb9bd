import type { RequestContext } from '../contract/context.ts'
import { type Item, itemOf, relabeledItem } from '../contract/item.ts'
import type { Selection } from '../contract/storage.ts'
import { sameJson } from '../json/same.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { andFields, andLabels, fieldEquals } from '../selectors/selectors.ts'
import type { Texts } from '../wire/encode.ts'
import { isAnnotator } from './annotate.ts'
import type { Lens, View } from './lens.ts'
import { LensFailures, type LensMember } from './lensfailures.ts'
import { copyJson, isObject, isPlain, isTexts, NotJsonError, named, PrivateMeta } from './privatecopy.ts'

const functions = ['narrow', 'matches', 'relabel', 'matchesObject', 'present', 'accept'] as const

/** The lens of a request. Throws 500 if `view` returns no lens. */
export const checkedLens =
  <P extends Params>(view: View<P>) =>
  (ctx: RequestContext<P>): CheckedLens<P> =>
    new CheckedLens(
      ctx,
      view,
      new LensFailures(ctx, view).call('the view function', 'a lens', () => view(ctx)),
    )

/**
 * A lens whose members get private copies, and whose results are checked. A private copy costs half of freezing: items
 * are decoded again and again; and unlike a frozen object it protects also from code that is not in strict mode. Other
 * errors of a member than `StatusError`, and wrong results, are a logged 500.
 */
export class CheckedLens<P extends Params> {
  readonly #lens: Lens
  readonly #failures: LensFailures<P>

  constructor(ctx: RequestContext<P>, view: View<P>, lens: Lens) {
    this.#lens = lens
    this.#failures = new LensFailures(ctx, view, lens)
    this.#check(lens)
  }

  #check(lens: unknown): void {
    const noLens = () =>
      this.#failures.wrong('the view function', `must return a lens, but returned ${named(lens)}`)
    if (!isObject(lens)) throw noLens()
    for (const member in lens) {
      const isFunction = (functions as readonly string[]).includes(member)
      if (!isFunction && typeof lens[member] === 'function')
        throw this.#failures.wrong(member, 'is not a member of a lens')
      if (isFunction && lens[member] !== undefined && typeof lens[member] !== 'function')
        throw this.#failures.wrong(member, 'must be a function')
    }
    if (!isLensLike(lens)) throw noLens()
    if (lens.annotate !== undefined && !isAnnotator(lens.annotate))
      throw this.#failures.wrong('annotate', 'must be made by annotator()')
  }

  get annotate(): Lens['annotate'] {
    return this.#lens.annotate
  }
  get filters(): boolean {
    return this.#lens.matches !== undefined || this.#lens.matchesObject !== undefined
  }
  /** Whether the values that selectors read can differ from the stored ones. */
  get rewritesSelected(): boolean {
    return this.#lens.relabel !== undefined || this.#lens.present !== undefined
  }
  get rewrites(): boolean {
    return this.rewritesSelected || this.annotate !== undefined
  }
  get accepts(): boolean {
    return this.#lens.accept !== undefined
  }

  /** The selection with the requirements of the view; `view` are those of its labels. */
  narrowed<Q extends Selection>(query: Q): Q {
    const { narrow } = this.#lens
    if (narrow === undefined) return query
    const { cluster, namespace = '' } = query
    const asked = { cluster, ...(namespace !== '' && { namespace }) }
    const own = this.#selection(
      asked,
      this.#failures.call('narrow', 'an object', () => narrow.call(this.#lens, { ...asked })),
    )
    // Another namespace than that of the request: nothing is selected.
    const isOther = namespace !== '' && own.namespace !== namespace
    const fields = andFields(own.fields, isOther ? fieldEquals('metadata.namespace', namespace) : undefined)
    return {
      ...query,
      cluster: own.cluster,
      ...(own.namespace !== undefined && { namespace: own.namespace }),
      ...(own.labels && {
        labels: andLabels(query.labels, own.labels),
        view: andLabels(query.view, own.labels),
      }),
      ...(fields.requirements.length > 0 && { fields: andFields(query.fields, fields) }),
    }
  }

  #selection({ cluster }: Selection, own: unknown): Selection {
    if (!isObject(own))
      throw this.#failures.wrong('narrow', `must return an object, but returned ${named(own)}`)
    const isNarrower = cluster === '*' ? typeof own.cluster === 'string' : own.cluster === cluster
    if (!isNarrower) throw this.#failures.wrong('narrow', 'must not change the cluster')
    for (const member of ['labels', 'fields'] as const) {
      const selector = own[member]
      if (selector === undefined || (isObject(selector) && Array.isArray(selector.requirements))) continue
      throw this.#failures.wrong('narrow', `must return ${member} with requirements`)
    }
    return own as unknown as Selection
  }

  isVisible(item: Item): boolean {
    const { matches, matchesObject } = this.#lens
    return (
      (matches === undefined ||
        this.#boolean('matches', () => matches.call(this.#lens, new PrivateMeta(item.meta)))) &&
      (matchesObject === undefined ||
        this.#boolean('matchesObject', () => matchesObject.call(this.#lens, copyJson(item.object))))
    )
  }

  #boolean(member: LensMember, run: () => unknown): boolean {
    const result = this.#failures.call(member, 'a boolean', run)
    if (typeof result === 'boolean') return result
    throw this.#failures.wrong(member, `must return a boolean, but returned ${named(result)}`)
  }

  /** The item as the lens rewrites it; the same item if nothing changes. */
  rewritten(item: Item): Item {
    const labeled = this.#relabeled(item)
    return this.#presented(this.annotate?.item(labeled) ?? labeled)
  }

  #relabeled(item: Item): Item {
    const { relabel } = this.#lens
    if (relabel === undefined) return item
    const meta = new PrivateMeta(item.meta)
    const result: unknown = this.#failures.call('relabel', 'an object', () => relabel.call(this.#lens, meta))
    const relabeled: unknown = result === meta ? meta.changes() : result
    if (!isPlain(relabeled))
      throw this.#failures.wrong('relabel', `must return an object, but returned ${named(relabeled)}`)
    const { labels, annotations } = relabeled
    const relabeling = { ...this.#texts({ labels }), ...this.#texts({ annotations }) }
    return Object.keys(relabeling).length === 0 ? item : relabeledItem(item, relabeling)
  }

  /** A copy of the one member of `map`; nothing if that is undefined. */
  #texts(map: Readonly<Record<string, unknown>>): Readonly<Record<string, Texts>> {
    for (const [name, texts] of Object.entries(map)) {
      if (texts === undefined) continue
      if (isTexts(texts)) return { [name]: { ...texts } }
      throw this.#failures.wrong('relabel', `must return ${name} as a map of strings`)
    }
    return {}
  }

  #presented(item: Item): Item {
    const { present } = this.#lens
    if (present === undefined) return item
    const stored = item.object
    const given = copyJson(stored)
    const result: unknown = this.#failures.call('present', 'an object', () => present.call(this.#lens, given))
    if (result === given && sameJson(given, stored)) return item
    const object = this.#object('present', result)
    for (const field of ['name', 'namespace', 'uid', 'resourceVersion'] as const)
      this.#unchanged('present', field, stored, object)
    return itemOf(object, item.key.cluster)
  }

  /** The object to store. uid and resourceVersion are the client's: they are preconditions. */
  accepted(next: KubeObject, current?: Item, stored?: Item): KubeObject {
    const { accept } = this.#lens
    if (accept === undefined) return next
    const given: Parameters<typeof accept> = [
      copyJson(next),
      current && copyJson(current.object),
      stored && copyJson(stored.object),
    ]
    const object = this.#object(
      'accept',
      this.#failures.call('accept', 'an object', () => accept.apply(this.#lens, given)),
    )
    for (const field of ['name', 'namespace'] as const) this.#unchanged('accept', field, next, object)
    const { uid: _, resourceVersion: __, ...metadata } = object.metadata
    const { uid, resourceVersion } = next.metadata
    return {
      ...object,
      metadata: {
        ...metadata,
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
    }
  }

  #object(member: LensMember, result: unknown): KubeObject {
    if (!isObject(result))
      throw this.#failures.wrong(member, `must return an object, but returned ${named(result)}`)
    const { apiVersion, kind, metadata } = result
    const isTyped = [apiVersion, kind].every(text => typeof text === 'string' && text !== '')
    if (!isTyped || !isObject(metadata))
      throw this.#failures.wrong(member, 'must return an object with apiVersion, kind and metadata')
    const wrongMap = Object.entries(textsOf(metadata)).find(([, texts]) => !isTexts(texts))
    if (wrongMap !== undefined)
      throw this.#failures.wrong(member, `must return metadata.${wrongMap[0]} as a map of strings`)
    try {
      return copyJson(result) as unknown as KubeObject
    } catch (error) {
      if (!(error instanceof NotJsonError)) throw error
      throw this.#failures.wrong(member, `returned a value that is not JSON: ${error.message}`)
    }
  }

  #unchanged(
    member: LensMember,
    field: 'name' | 'namespace' | 'uid' | 'resourceVersion',
    { metadata: before }: KubeObject,
    { metadata: after }: KubeObject,
  ): void {
    if (before[field] !== after[field])
      throw this.#failures.wrong(member, `must not change metadata.${field}`)
  }
}

/** `{}` shows everything. Other objects without a member of a lens, such as a generator, are a mistake. */
const isLensLike = (value: Readonly<Record<string, unknown>>): boolean =>
  (isPlain(value) && Object.keys(value).length === 0) ||
  [...functions, 'annotate'].some(member => member in value)

/** The labels and annotations that are given. */
const textsOf = ({ labels, annotations }: Readonly<Record<string, unknown>>) => ({
  ...(labels != null && { labels }),
  ...(annotations != null && { annotations }),
})
