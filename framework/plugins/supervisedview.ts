import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '../async/awaitable.ts'
import type { AdmissionAttributes, AdmissionPlugin, WriteAttributes } from '../contract/admission.ts'
import type { RequestContext } from '../contract/context.ts'
import { type Culprit, ViewMistake } from '../contract/viewfailure.ts'
import type { UrlPublisher, VirtualWorkspace } from '../contract/workspace.ts'
import { sameJson } from '../json/same.ts'
import { copyJson } from '../lens/privatecopy.ts'
import type { KubeObject } from '../meta/object.ts'
import { type CheckedMember, MemberCalls } from './membercall.ts'
import {
  isApis,
  isDecision,
  isItems,
  isKubeObject,
  isNothing,
  isParamsList,
  isText,
  isTextList,
  isUser,
} from './results.ts'
import { SupervisedApis } from './supervisedapis.ts'
import type { Supervisor } from './supervisor.ts'

/** The view of a plugin, whose members are checked. It has `plugin`, by which the server stops calling a view that fails. `until` aborts
 * when the view is replaced: its watches end then. */
export function supervisedView(
  view: VirtualWorkspace,
  supervisor: Supervisor,
  until?: AbortSignal,
): VirtualWorkspace {
  const calls = new MemberCalls(supervisor)
  const { name, path, otherwise, publisher, admission } = view
  return {
    name,
    path,
    plugin: supervisor,
    ...(otherwise && { otherwise }),
    ...(publisher && { publisher: supervisedPublisher(calls, supervisor, publisher) }),
    ...(admission && { admission: admission.map((each, i) => supervisedAdmission(calls, each, i)) }),
    apis: supervisedApis(view, calls, { supervisor, until }),
    ...requestMembers(view, calls, supervisor),
    ...(view.run && { run: supervisedRun(view, supervisor) }),
  }
}

const member = <T>(
  name: string,
  culprit: unknown,
  wanted: string,
  is: CheckedMember<T>['is'],
): CheckedMember<T> => ({
  name,
  wanted,
  is,
  culprit: culprit as Culprit,
})

const aDecision = "a decision, such as allow('a member') or deny('not a member')"

type RequestMembers = Pick<VirtualWorkspace, 'authorize' | 'explain' | 'guard' | 'actAs' | 'http'>

function requestMembers(view: VirtualWorkspace, calls: MemberCalls, supervisor: Supervisor): RequestMembers {
  const { authorize, explain, guard, actAs, http } = view
  const deciding = (name: 'authorize' | 'explain') => {
    const decision = member(name, view[name], aDecision, isDecision)
    return async (ctx: RequestContext) => {
      const own = calls.context(ctx)
      return calls.call(own, decision, () => view[name]?.(own))
    }
  }
  const nothing = member('guard', guard, 'nothing, and throw a StatusError to refuse', isNothing)
  const user = member('actAs', actAs, 'a user { name, groups }, such as loopback', isUser)
  return {
    ...(authorize && { authorize: deciding('authorize') }),
    ...(explain && { explain: deciding('explain') }),
    ...(guard && { guard: async ctx => calls.call(ctx, nothing, () => view.guard?.(ctx)) }),
    ...(http && { http: supervisedHttp(view, calls) }),
    ...(actAs && {
      actAs: ctx => calls.callNow(supervisor.reports(ctx), user, () => view.actAs?.(ctx)),
    }),
  }
}

function supervisedHttp(view: VirtualWorkspace, calls: MemberCalls): Required<VirtualWorkspace>['http'] {
  const anything = member('http', view.http, 'anything', (_): _ is unknown => true)
  return async (ctx, request, response) => {
    const own = calls.context(ctx)
    await calls.call(own, anything, () => view.http?.(own, request, response))
    calls.succeeded(own)
  }
}

function supervisedApis(
  view: VirtualWorkspace,
  calls: MemberCalls,
  { supervisor, until }: { readonly supervisor: Supervisor; readonly until: AbortSignal | undefined },
): VirtualWorkspace['apis'] {
  const apis = member('apis', view.apis, 'resources, made by apiSetOf(), or undefined', isApis)
  const supervised = new SupervisedApis(calls, until)
  const checked: VirtualWorkspace['apis'] = (params, cluster, user) => {
    const reports = supervisor.reports()
    const set = calls.callNow(reports, apis, () => view.apis(params, cluster, user))
    if (set === undefined) return undefined
    try {
      return supervised.of(set)
    } catch (error) {
      const { message: problem } = error as Error
      reports.failed({ member: 'apis', problem, culprit: apis.culprit })
      throw supervisor.failed(`apis ${problem}`)
    }
  }
  return (params, cluster, user) => {
    try {
      return checked(params, cluster, user)
    } catch (error) {
      supervisor.uncounted(error)
      throw error
    }
  }
}

/** Attributes whose key and objects may be changed without an effect. */
const privately = <T extends AdmissionAttributes>(attributes: T): T => {
  const { key, object, old } = attributes
  return {
    ...attributes,
    key: { ...key },
    ...(object && { object: copyJson(object) }),
    ...(old && { old: copyJson(old) }),
  }
}

function supervisedAdmission(calls: MemberCalls, plugin: AdmissionPlugin, i: number): AdmissionPlugin {
  const of = `admission[${i}]`
  if (typeof plugin !== 'object' || plugin === null)
    throw new ViewMistake(`${of} must be an admission plugin`)
  const { mutate, validate, admitDeletion, name, handles } = plugin
  const object = member(`${of}.mutate`, mutate, 'the object to store', isKubeObject)
  const check = (wanted: 'validate' | 'admitDeletion') => {
    const nothing = member(
      `${of}.${wanted}`,
      plugin[wanted],
      'nothing, and throw a StatusError to refuse',
      isNothing,
    )
    return async (ctx: RequestContext, attributes: AdmissionAttributes) =>
      calls.call(ctx, nothing, () => plugin[wanted]?.(ctx, privately(attributes)))
  }
  return {
    ...(name && { name }),
    ...(handles && { handles }),
    ...(mutate && {
      mutate: async (ctx: RequestContext, attributes: WriteAttributes, passes) =>
        copyJson(await calls.call(ctx, object, () => plugin.mutate?.(ctx, privately(attributes), passes))),
    }),
    ...(validate && { validate: check('validate') }),
    ...(admitDeletion && { admitDeletion: check('admitDeletion') }),
  }
}

function supervisedPublisher(
  calls: MemberCalls,
  supervisor: Supervisor,
  publisher: UrlPublisher,
): UrlPublisher {
  const views = member('publisher.views', publisher.views, 'a list of params, or undefined', isParamsList)
  const publish = member('publisher.publish', publisher.publish, 'the object', isKubeObject)
  const reports = supervisor.reports()
  return {
    objects: publisher.objects,
    dependsOn: publisher.dependsOn,
    ...(publisher.isOnlyHere && { isOnlyHere: true }),
    views: object => calls.callNow(reports, views, () => publisher.views(copyJson(object))),
    publish: (object, urls) => {
      const made: KubeObject = calls.callNow(reports, publish, () =>
        publisher.publish(copyJson(object), urls),
      )
      return withPublished(object, made)
    },
    ...publishedMembers(calls, supervisor, publisher),
  }
}

/** The members that a publisher need not have. */
function publishedMembers(
  calls: MemberCalls,
  supervisor: Supervisor,
  publisher: UrlPublisher,
): Pick<UrlPublisher, 'dependents' | 'published' | 'shardSelector'> {
  const reports = supervisor.reports()
  const optional = <T>(name: keyof UrlPublisher, wanted: string, is: CheckedMember<T>['is']) => {
    const own = publisher[name]
    if (typeof own !== 'function') return undefined
    const checked = member(`publisher.${name}`, own, wanted, is)
    return (object: KubeObject): T =>
      calls.callNow(reports, checked, () => Reflect.apply(own, publisher, [copyJson(object)]))
  }
  const dependents = optional('dependents', 'a list of items', isItems)
  const published = optional('published', 'a list of URLs', isTextList)
  const shardSelector = optional('shardSelector', 'a label selector', isText)
  return {
    ...(dependents && { dependents }),
    ...(published && { published }),
    ...(shardSelector && { shardSelector }),
  }
}

/** Only the status and the annotations: the other members that a plugin returns may be those of another object. */
function withPublished(object: KubeObject, { status, metadata }: KubeObject): KubeObject {
  const { status: before, ...others } = object
  const { annotations } = metadata
  if (sameJson(status, before) && sameJson(annotations, object.metadata.annotations)) return object
  return {
    ...others,
    metadata: { ...object.metadata, ...(annotations && { annotations: copyJson(annotations) }) },
    ...copyJson({ status }),
  }
}

/** Milliseconds after which a view that is not ready is logged, and those that its controllers may take to end. */
const readyTimeout = 10_000
const grace = 2000

/** The controllers of a view. They end with the signal, also if they ignore it. */
function supervisedRun(view: VirtualWorkspace, supervisor: Supervisor): Required<VirtualWorkspace>['run'] {
  return async (ready, signal) => {
    let isReady = false
    const late = setTimeout(() => supervisor.notReady('run() has not called ready() yet'), readyTimeout)
    const becomeReady = (): void => {
      isReady = true
      clearTimeout(late)
      ready()
    }
    try {
      const running = Promise.resolve(view.run?.(becomeReady, signal))
      await Promise.race([running, aborted(signal).then(() => sleep(grace, undefined, { ref: false }))])
      if (!isReady && !signal.aborted) supervisor.notReady('run() has ended, and did not call ready()')
    } catch (error) {
      if (!signal.aborted) supervisor.reports().failed({ member: 'run', problem: 'threw an error', error })
      throw error
    } finally {
      clearTimeout(late)
    }
  }
}
