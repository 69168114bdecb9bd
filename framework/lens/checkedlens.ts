import type { RequestContext } from '../contract/context.ts'
import { type Item, itemOf, relabeledItem } from '../contract/item.ts'
import type { Selection } from '../contract/storage.ts'
import { type Culprit, type MemberProblem, ViewFailure } from '../contract/viewfailure.ts'
import { sameJson } from '../json/same.ts'
import { StatusError } from '../meta/errors.ts'
import { groupResource, type KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { andFields, andLabels, fieldEquals } from '../selectors/selectors.ts'
import type { Texts } from '../wire/encode.ts'
import { isAnnotator } from './annotate.ts'
import type { Lens, View } from './lens.ts'
import { copyJson, isPromise, NotJsonError, named, PrivateMeta } from './privatecopy.ts'

const functions = ['narrow', 'matches', 'relabel', 'matchesObject', 'present', 'accept'] as const
type Member = keyof Lens | 'the view function'

/** The lens of a request. Throws 500 if `view` returns no lens. */
export const checkedLens =
  <P extends Params>(view: View<P>) =>
  (ctx: RequestContext<P>): CheckedLens<P> =>
    new CheckedLens(
      ctx,
      view,
      new Failures(ctx, view).call('the view function', 'a lens', () => view(ctx)),
    )

/**
 * A lens whose members get private copies, and whose results are checked. A private copy costs half of freezing: items
 * are decoded again and again; and unlike a frozen object it protects also from code that is not in strict mode. Other
 * errors of a member than `StatusError`, and wrong results, are a logged 500.
 */
export class CheckedLens<P extends Params> {
  readonly #lens: Lens
  readonly #failures: Failures<P>

  constructor(ctx: RequestContext<P>, view: View<P>, lens: Lens) {
    this.#lens = lens
    this.#failures = new Failures(ctx, view, lens)
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
      this.#failures.call('narrow', 'an object', () => narrow.call(this.#lens, asked)),
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

  #boolean(member: Member, run: () => unknown): boolean {
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
      if (isPlain(texts) && Object.values(texts).every(text => typeof text === 'string'))
        return { [name]: { ...texts } as Texts }
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

  #object(member: Member, result: unknown): KubeObject {
    if (!isObject(result))
      throw this.#failures.wrong(member, `must return an object, but returned ${named(result)}`)
    const { apiVersion, kind, metadata } = result
    const isTyped = [apiVersion, kind].every(text => typeof text === 'string' && text !== '')
    if (!isTyped || !isObject(metadata))
      throw this.#failures.wrong(member, 'must return an object with apiVersion, kind and metadata')
    try {
      return copyJson(result) as unknown as KubeObject
    } catch (error) {
      if (!(error instanceof NotJsonError)) throw error
      throw this.#failures.wrong(member, `returned a value that is not JSON: ${error.message}`)
    }
  }

  #unchanged(
    member: Member,
    field: 'name' | 'namespace' | 'uid' | 'resourceVersion',
    { metadata: before }: KubeObject,
    { metadata: after }: KubeObject,
  ): void {
    if (before[field] !== after[field])
      throw this.#failures.wrong(member, `must not change metadata.${field}`)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPromise(value)

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** `{}` shows everything. Other objects without a member of a lens, such as a generator, are a mistake. */
const isLensLike = (value: Readonly<Record<string, unknown>>): boolean =>
  (isPlain(value) && Object.keys(value).length === 0) ||
  [...functions, 'annotate'].some(member => member in value)

/** The errors of a lens: clients get the view and the member, the log gets everything. */
class Failures<P extends Params = Params> {
  readonly #ctx: RequestContext<P>
  readonly #view: Culprit
  readonly #lens: Lens | undefined

  /** `lens`: absent until the view function has returned it. */
  constructor(ctx: RequestContext<P>, view: View<P>, lens?: Lens) {
    this.#ctx = ctx
    this.#view = view
    this.#lens = lens
  }

  /** The result of a member. A promise is an error: it would be true, and an object. */
  call<T>(member: Member, wanted: string, run: () => T): T {
    const { calls } = this.#ctx.record
    const since = calls === undefined ? 0 : performance.now()
    const result = this.#result(member, run)
    if (isPromise(result)) {
      result.then(undefined, () => undefined)
      throw this.wrong(member, `must return ${wanted}, but returned a promise`)
    }
    calls?.took(member, performance.now() - since)
    return result
  }

  #result<T>(member: Member, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof StatusError) throw error
      this.#report({ member, problem: 'threw an error', error })
      throw this.#failure(member, 'threw an error, which the server logged')
    }
  }

  wrong(member: string, problem: string): StatusError {
    this.#report({ member, problem, culprit: this.#culpritOf(member) })
    return this.#failure(member, problem)
  }

  #culpritOf(member: string): Culprit | undefined {
    const culprit = Reflect.get(this.#lens ?? {}, member) ?? this.#view
    return typeof culprit === 'function' ? culprit : this.#view
  }

  #failure(member: string, problem: string): StatusError {
    const { workspace } = this.#ctx
    const lens = workspace === '' ? 'a lens' : `the lens of the view ${JSON.stringify(workspace)}`
    return new ViewFailure(`${lens} failed: ${member} ${problem}`)
  }

  #report(found: MemberProblem): void {
    const { workspace, info, record } = this.#ctx
    if (record.calls !== undefined) {
      record.calls.failed(found)
      return
    }
    const { member, problem, error } = found
    const resource = info.isResource ? groupResource(info.group, info.resource) : info.path
    const fields = { view: workspace, member, resource, ...(error === undefined ? {} : { err: error }) }
    record.log.error(fields, `lens failed: ${member} ${problem}`)
  }
}
