import type { ApiResource } from '../../contract/apis.ts'
import { apiSetOf } from '../../contract/apis.ts'
import type { ResourceRef } from '../../contract/backend.ts'
import type { Host } from '../../contract/workspace.ts'
import type { Lens } from '../../lens/lens.ts'
import { viewOf } from '../../lens/view.ts'
import { type Definition, widgetsOf } from './supervised.ts'

type AnyFunction = (...args: unknown[]) => unknown

function spoil(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 6 || Buffer.isBuffer(value)) return
  if (value instanceof Promise || value instanceof AbortSignal) return
  for (const key of Object.keys(value)) {
    spoil(Reflect.get(value, key), depth + 1)
    if (typeof Reflect.get(value, key) === 'string') Reflect.set(value, key, 'spoiled')
  }
  spoil(Reflect.get(value, 'object'), depth + 1)
  if (Array.isArray(value)) value.push('spoiled')
}

/** Changes everything that it is given, and then does what the member does. */
const spoiling =
  (own: AnyFunction): AnyFunction =>
  (...args) => {
    for (const each of args) spoil(each)
    return own(...args)
  }

const throwing = (thrown: unknown): AnyFunction => {
  return () => {
    throw thrown
  }
}

async function* endless(): AsyncGenerator<readonly never[]> {
  for (;;) yield []
}

async function* waiting(): AsyncGenerator {
  await new Promise(() => undefined)
}

async function* stubborn(): AsyncGenerator<readonly never[]> {
  try {
    yield []
  } finally {
    await new Promise(() => undefined)
  }
}

/** What a member does instead of its work. None of it is a right result of any member. */
export const misbehaviors: Readonly<Record<string, (own: AnyFunction) => AnyFunction>> = {
  'throws an error': () => throwing(new Error('out of order')),
  'throws a text': () => throwing('out of order'),
  'throws undefined': () => throwing(undefined),
  'throws a false StatusError': () =>
    throwing(Object.assign(new Error('x'), { name: 'StatusError', status: { code: 'x' } })),
  'returns null': () => () => null,
  'returns a number': () => () => Number.NaN,
  'returns a text': () => () => 'sesame?',
  'returns an empty object': () => () => ({}),
  'returns a list of lists': () => () => [[]],
  'returns a promise of null': () => async () => null,
  'returns a rejected promise': () => async () => Promise.reject(new Error('out of order')),
  'returns a promise without an end': () => () => new Promise(() => undefined),
  'returns an object that throws': () => () =>
    new Proxy(
      {},
      {
        get(_, name) {
          if (name === 'then') return undefined
          throw new Error('out of order')
        },
      },
    ),
  'yields without an end': () => endless,
  'never yields': () => waiting,
  'never ends': () => stubborn,
  'changes what it is given': spoiling,
  blocks:
    own =>
    (...args) => {
      const end = performance.now() + 20
      while (performance.now() < end);
      return own(...args)
    },
  'calls itself late':
    own =>
    (...args) => {
      setImmediate(() => void Promise.resolve(own(...args)).catch(() => undefined))
      return own(...args)
    },
}

/** The functions of the framework that the view uses, and its objects: a plugin gets the framework as an argument. */
export interface Used {
  readonly apiSetOf: typeof apiSetOf
  readonly viewOf: typeof viewOf
  readonly resourceOf: (host: Host) => ApiResource
  readonly ref: ResourceRef
}

const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' }
const ours: Used = { apiSetOf, viewOf, resourceOf: widgetsOf, ref: widgets }

/** A view that hides widgets with the label `hidden`, and has every member of the contract. */
function wellBehaved(host: Host, { resourceOf, ref }: Used) {
  const widgets = resourceOf(host)
  const lens: Lens = {
    narrow: query => query,
    matches: ({ labels }) => labels.hidden === undefined,
    relabel: () => ({}),
    matchesObject: ({ metadata }) => metadata.labels?.hidden === undefined,
    present: object => object,
    accept: object => object,
  }
  const column = { name: 'Kind', type: 'string', format: '', description: '', priority: 0 }
  const cell = { ...column, cell: ({ kind }: { readonly kind: string }) => kind }
  const definition: Definition = {
    authorize: async () => ({ effect: 'allow', reason: 'a test' }),
    guard: async () => undefined,
    actAs: ({ user }) => user,
    run: async ready => ready(),
    admission: [{ mutate: async (_, { object }) => object, validate: async () => undefined }],
    publisher: {
      objects: ref,
      dependsOn: [],
      views: () => [],
      publish: object => object,
    },
  }
  return { widgets, lens, cell, definition }
}

/** The members, by path. */
export const members: readonly string[] = [
  ...['narrow', 'matches', 'relabel', 'matchesObject', 'present', 'accept'].map(name => `lens.${name}`),
  ...['get', 'list', 'watch', 'create', 'update', 'delete'].map(name => `storage.${name}`),
  ...['authorize', 'guard', 'actAs', 'run', 'apis'].map(name => `view.${name}`),
  ...['mutate', 'validate'].map(name => `admission.${name}`),
  ...['views', 'publish'].map(name => `publisher.${name}`),
  ...['handler', 'index'].map(name => `informer.${name}`),
  'column.cell',
  'lens.view',
]

/** A view of which one member misbehaves. */
export const misbehaving =
  (member: string, misbehavior: string, used: Used = ours) =>
  (host: Host): Definition => {
    const [part = '', name = ''] = member.split('.')
    const change = <T extends object>(of: string, value: T): T => {
      const own = part === of ? Reflect.get(value, name) : undefined
      if (typeof own !== 'function') return value
      return { ...value, [name]: misbehaviors[misbehavior]?.(own.bind(value)) }
    }
    const { widgets, lens, cell, definition } = wellBehaved(host, used)
    const view = change('lens', { view: () => change('lens', lens) })
    const storage = change('storage', used.viewOf(widgets.storage, view.view))
    const resource: ApiResource = { ...widgets, storage, columns: [change('column', cell)] }
    const apis = used.apiSetOf([resource])
    const informer = host.informers.for(used.ref)
    const { handler, index } = change('informer', { handler: () => undefined, index: () => ['all'] })
    informer.onEvent(handler)
    informer.index(index)('all')
    const [admission] = definition.admission ?? []
    const { publisher } = definition
    return change('view', {
      ...definition,
      apis: () => apis,
      ...(admission && { admission: [change('admission', admission)] }),
      ...(publisher && { publisher: change('publisher', publisher) }),
    })
  }
