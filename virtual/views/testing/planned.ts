import { WatchCosts } from '../../shared/watching/watchcosts.ts'
import { Failures } from '../failures.ts'
import type { ResourcePlan } from '../plan.ts'
import { Presenter } from '../presenter.ts'
import { type ViewStorage, viewStorage } from '../storage.ts'

/** The storage of a planned resource of the View `v`, whose objects are read in the logical clusters with these facts. */
export function plannedStorage(plan: ResourcePlan, parts: Pick<ViewStorage, 'labelled'> & { facts: object }) {
  const { labelled, facts } = parts
  const failures = new Failures(() => undefined)
  return viewStorage({
    plan,
    failures,
    presenter: new Presenter(plan, failures),
    costs: new WatchCosts(),
    name: 'v',
    owner: 'one',
    state: '',
    since: 0,
    changed: new AbortController().signal,
    labelled,
    clusters: { of: () => facts, follow: () => () => undefined, hasChangedSince: () => false },
  } as unknown as ViewStorage)
}
