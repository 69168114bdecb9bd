import { after } from '../async/awaitable.ts'
import type { ApiResource, ApiSet, Subresource } from '../contract/apis.ts'
import type { Forwarding } from '../contract/upstream.ts'
import type { Culprit } from '../contract/viewfailure.ts'
import { isObject } from '../lens/privatecopy.ts'
import type { Answer } from '../request/response.ts'
import type { CheckedMember, MemberCalls } from './membercall.ts'
import { problemOfResource } from './results.ts'
import { supervisedStorage } from './supervisedstorage.ts'

/** Supervises the resources of a view. The same set gives the same result, by which documents are kept. */
export class SupervisedApis {
  readonly #calls: MemberCalls
  readonly #until: AbortSignal | undefined
  readonly #sets = new WeakMap<ApiSet, ApiSet>()
  readonly #resources = new WeakMap<ApiResource, ApiResource>()

  /** `until` aborts when the view is replaced. */
  constructor(calls: MemberCalls, until: AbortSignal | undefined) {
    this.#calls = calls
    this.#until = until
  }

  /** Throws an `Error` that names the resource and the member if the set has wrong resources. */
  of(set: ApiSet): ApiSet {
    const known = this.#sets.get(set)
    if (known !== undefined) return known
    const made = this.#supervised(set)
    this.#sets.set(set, made)
    return made
  }

  #supervised(set: ApiSet): ApiSet {
    const own = (found: ApiResource | undefined): ApiResource | undefined => found && this.#resource(found)
    const { unaggregated, isPartial } = set
    const ends = [set.replaced, this.#until].filter(signal => signal !== undefined)
    for (const [i, resource] of set.resources.entries()) {
      const problem = problemOfResource(resource, i)
      if (problem !== undefined) throw new Error(`must return resources: ${problem}`)
    }
    const { findMetadata } = set
    return {
      resources: set.resources.map(each => this.#resource(each)),
      find: (...wanted) => own(set.find(...wanted)),
      ...(findMetadata && { findMetadata: (...wanted) => own(findMetadata.apply(set, wanted)) }),
      ...(unaggregated && { unaggregated }),
      ...(isPartial && { isPartial }),
      ...(ends.length > 0 && { replaced: AbortSignal.any(ends) }),
    }
  }

  #resource(resource: ApiResource): ApiResource {
    const known = this.#resources.get(resource)
    if (known !== undefined) return known
    const { plural } = resource.names
    const made = {
      ...resource,
      storage: supervisedStorage(this.#calls, resource.storage, `${plural}.storage`),
      subresources: resource.subresources.map(each => this.#subresource(each, `${plural}/${each.name}`)),
    }
    this.#resources.set(resource, made)
    return made
  }

  #subresource(subresource: Subresource, of: string): Subresource {
    const { connect, storage } = subresource
    if (connect === undefined)
      return { ...subresource, storage: supervisedStorage(this.#calls, storage, `${of}.storage`) }
    const member: CheckedMember<Answer | Forwarding> = {
      name: `${of}.connect`,
      culprit: connect as Culprit,
      wanted: 'a response { status, contentType, body }',
      is: isAnswer,
    }
    return {
      ...subresource,
      connect: async (ctx, request) =>
        after(
          this.#calls.call(ctx, member, () => connect(ctx, request)),
          answer => {
            this.#calls.succeeded(ctx)
            return answer
          },
        ),
    }
  }
}

const isAnswer = (value: unknown): value is Answer | Forwarding =>
  isObject(value) &&
  (typeof value.forward === 'function' || (Number.isInteger(value.status) && isBody(value.body)))

const isBody = (body: unknown): boolean =>
  Buffer.isBuffer(body) || (isObject(body) && Symbol.asyncIterator in body)
