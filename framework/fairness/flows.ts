/** Numbers of requests in progress, in the queue, and waiting for their client. */
export class Counts {
  executing = 0
  waiting = 0
  stalled = 0
}

/** The requests of one user, to all workspaces. */
export class UserShare extends Counts {
  readonly name: string
  readonly flows = new Map<string, Flow>()
  /** The number of the turn of the event loop in which a request of the user has begun last. */
  begun = 0

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** The requests to one workspace through one view, of all users. */
class WorkspaceShare extends Counts {
  flows = 0
}

/** The requests of one user to one workspace through one view. */
export class Flow extends Counts {
  readonly user: UserShare
  readonly share: WorkspaceShare
  /** The view, its parameters and the logical cluster. */
  readonly workspace: string
  rejected = 0
  /** From `Date.now()`. */
  lastRejected = 0

  constructor(user: UserShare, share: WorkspaceShare, workspace: string) {
    super()
    this.user = user
    this.share = share
    this.workspace = workspace
  }
}

/** The maximum number of flows without requests. */
const most = 2000

/** The flows by user and workspace. */
export class Flows {
  readonly users = new Map<string, UserShare>()
  readonly #workspaces = new Map<string, WorkspaceShare>()
  #count = 0
  #next = most

  /** Adds a flow that is not there. */
  add(name: string, workspace: string): Flow {
    if (this.#count >= this.#next) this.#forgetIdle()
    const user = this.users.get(name) ?? new UserShare(name)
    const share = this.#workspaces.get(workspace) ?? new WorkspaceShare()
    const flow = new Flow(user, share, workspace)
    this.users.set(name, user)
    this.#workspaces.set(workspace, share)
    user.flows.set(workspace, flow)
    share.flows++
    this.#count++
    return flow
  }

  *all(): Generator<Flow> {
    for (const user of this.users.values()) yield* user.flows.values()
  }

  #forgetIdle(): void {
    for (const user of this.users.values()) {
      for (const flow of user.flows.values()) if (isIdle(flow)) this.#forget(flow)
      if (user.flows.size === 0) this.users.delete(user.name)
    }
    // Twice as many flows have to come before all are looked at again.
    this.#next = Math.max(most, 2 * this.#count)
  }

  #forget({ user, share, workspace }: Flow): void {
    user.flows.delete(workspace)
    this.#count--
    share.flows--
    if (share.flows === 0) this.#workspaces.delete(workspace)
  }
}

const isIdle = ({ executing, waiting, stalled }: Flow): boolean => executing + waiting + stalled === 0
