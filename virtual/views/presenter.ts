import { lengthOf, relabeledItem } from '../../framework/contract/item.ts'
import type { Item } from '../../framework/index.ts'
import { type KeptResult, KeptResults } from '../../framework/lens/keptresults.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import type { ClusterFacts, ExpressionAllowance, UserFacts } from '../../openapi/index.ts'
import type { Failures } from './failures.ts'
import { Masker } from './masker.ts'
import type { ResourcePlan } from './plan.ts'

/** For whom an item is presented. */
export interface PresentedFor {
  readonly cluster: ClusterFacts
  readonly user: UserFacts
  readonly allowance: ExpressionAllowance
}

/** An item as a View shows it in a logical cluster with these facts. */
export interface KeptShown extends KeptResult {
  readonly cluster: ClusterFacts
  readonly shown: Item
}

/** Shown items of all Views, by presenter. */
export const newShownItems = (): KeptResults<KeptShown> => new KeptResults(mostKept)

/** Bytes. */
const mostKept = 128 * 1024 * 1024

/** Bytes of the annotations of an object, as in Kubernetes (`TotalAnnotationSizeLimitB`). */
const longestAnnotations = 256 * 1024

/** Makes the items of a View from those of its source. Results are kept with the items if they do not depend on the user. */
export class Presenter {
  readonly #plan: ResourcePlan
  readonly #failures: Failures
  readonly #kept: KeptResults<KeptShown>
  readonly #masker: Masker

  constructor(plan: ResourcePlan, failures: Failures, kept = newShownItems()) {
    this.#plan = plan
    this.#failures = failures
    this.#kept = kept
    const { group, version } = plan.source
    this.#masker = new Masker(plan.hide, apiVersionOf(group, version))
  }

  /** undefined when an annotation fails. Throws 500 when the expressions of the request cost too much. */
  presented(item: Item, how: PresentedFor): Item | undefined {
    const { hide, annotate, readsUser, readsClusters } = this.#plan
    if (hide.length === 0 && annotate.length === 0) return item
    const kept = this.#kept.get(this, item)
    if (kept !== undefined && (!readsClusters || kept.cluster === how.cluster)) return kept.shown
    const shown = this.#annotated(item, this.masked(item), how)
    if (shown === undefined || readsUser) return shown
    const size = memoryOf(hide.length > 0 ? shown : item)
    this.#kept.set(this, item, { cluster: how.cluster, shown, size })
    return shown
  }

  /** The item without hidden fields. */
  masked(item: Item): Item {
    return this.#masker.masked(item)
  }

  #annotated(item: Item, visible: Item, { allowance, ...who }: PresentedFor): Item | undefined {
    const { annotate, field } = this.#plan
    if (annotate.length === 0) return visible
    const added: Record<string, string> = {}
    for (const { name, expression } of annotate) {
      const result = expression.evaluate({ item: visible, ...who }, allowance)
      if (!('value' in result)) {
        this.#failures.refused(`${field}.annotate[${name}]`, result, item)
        return undefined
      }
      added[name] = String(result.value)
    }
    const annotations = { ...visible.meta.annotations, ...added }
    if (textsOf(annotations) <= longestAnnotations) return relabeledItem(visible, { annotations })
    const failure = `annotations have more than ${longestAnnotations} bytes`
    this.#failures.refused(`${field}.annotate`, { failure }, item)
    return undefined
  }
}

/** Bytes, as measured: a kept item refers to a decoded object, that of the source unless fields are hidden. */
const memoryOf = (decoded: Item): number => 1024 + 4 * lengthOf(decoded)

const textsOf = (texts: Readonly<Record<string, string>>): number =>
  Object.entries(texts).reduce((length, [name, text]) => length + name.length + text.length, 0)
