import { isDeepStrictEqual } from 'node:util'
import { silent } from '../contract/log.ts'
import { userOf } from './access.ts'
import type { Routed } from './dispatch.ts'
import { impersonated } from './impersonated.ts'
import { type Mounted, mayEnter } from './mounts.ts'
import { admitted, type Pipeline } from './pipeline.ts'
import { namedCluster } from './routes.ts'
import { createRecording, type Exchange } from './serve.ts'

type Reviewing = Omit<Pipeline, 'reviews'>

/** Whether an open watch or tunnel would be admitted again, as before. Throws what a new one would get. */
export function mayGoOn(pipeline: Reviewing, open: Routed | Mounted): Promise<boolean> {
  if ('mount' in open) return mayStay(pipeline, open)
  return open.target.workspace.plugin?.forwarding === undefined
    ? isAdmitted(pipeline, open)
    : isAuthenticated(pipeline, open)
}

/** The part of a request that a review does again: nothing of it is logged or audited. */
const again = <T extends Exchange>(open: T) => ({
  ...open,
  audit: undefined,
  record: createRecording(silent, open.incoming),
  requestor: undefined,
})

const placeOf = ({ backend }: Reviewing, { target }: Routed) => ({
  cluster: namedCluster(backend, target),
  path: target.info.path,
})

async function isAdmitted(pipeline: Reviewing, open: Routed): Promise<boolean> {
  const { incoming, ctx } = open
  const exchange = again(open)
  exchange.user = await userOf(pipeline.authenticator, exchange, placeOf(pipeline, open))
  const known = incoming.impersonates ? await impersonated(pipeline.backend, exchange) : exchange
  const { ctx: next, user } = await admitted(pipeline, known)
  return ctx === undefined || (next.cluster === ctx.cluster && isDeepStrictEqual(user, ctx.user))
}

/** The process of the view knows the user by a header only, and reviews the rest. */
async function isAuthenticated(pipeline: Reviewing, open: Routed): Promise<boolean> {
  const user = await userOf(pipeline.authenticator, again(open), placeOf(pipeline, open))
  return isDeepStrictEqual(user, open.requestor ?? open.user)
}

/** The mounted server may not know the user at all. */
async function mayStay(pipeline: Reviewing, open: Mounted): Promise<boolean> {
  const user = await userOf(pipeline.authenticator, again(open))
  if (!isDeepStrictEqual(user, open.user)) return false
  return !('parent' in open.mount) || mayEnter(pipeline, open, user, open.mount.parent)
}
