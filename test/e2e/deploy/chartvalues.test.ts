import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { chart, refusedValues, roles } from './rendered.ts'

type Values = { [name: string]: unknown }

const textOf = (file: string): string => readFileSync(join(chart, file), 'utf8')
const defaults = (): Values => parse(textOf('values.yaml')) as Values
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values of the chart with those of `--set a.b={c,d}`. */
function withSets(sets: readonly string[]): Values {
  const values = defaults()
  for (const set of sets) {
    const at = set.indexOf('=')
    const path = set.slice(0, at).split('.')
    put(values, path, readValue(set.slice(at + 1)))
  }
  return values
}

const readValue = (text: string): unknown =>
  text.startsWith('{') ? text.slice(1, -1).split(',') : text === 'true' ? true : text

function put(into: Values, [name = '', ...rest]: readonly string[], value: unknown): void {
  const [, list = name, index] = /^(.*)\[(\d+)\]$/.exec(name) ?? []
  if (rest.length === 0) into[name] = value
  else if (index !== undefined) {
    const item: Values = {}
    into[list] = [item]
    put(item, rest, value)
  } else {
    const inner = isObject(into[name]) ? into[name] : {}
    into[name] = inner
    put(inner, rest, value)
  }
}

/** The objects with values: `a.b` for each. Empty ones are free, such as annotations. */
const objectsIn = (values: Values, path: readonly string[] = []): readonly (readonly string[])[] => [
  path,
  ...Object.entries(values).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0 ? objectsIn(value, [...path, name]) : [],
  ),
]

describe('the values of the chart, without helm', () => {
  const check = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(
    JSON.parse(textOf('values.schema.json')),
  )
  /** `/role enum` for each problem, and the name of an unknown value. */
  const problemsOf = (values: Values): string => {
    check(values)
    return (check.errors ?? [])
      .map(({ instancePath, keyword, params }) =>
        `${instancePath} ${keyword} ${params.additionalProperty ?? ''}`.trimEnd(),
      )
      .join('\n')
  }

  for (const [role, sets] of Object.entries(roles))
    it(`are accepted with those of the role: ${role}`, () => assert.equal(problemsOf(withSets(sets)), ''))

  for (const [what, sets, , problem] of refusedValues)
    it(`refuse ${what}, and name the value`, () => assert.match(problemsOf(withSets(sets)), problem))

  it('refuse values that nobody knows in each object', () => {
    const objects = objectsIn(defaults())
    assert.ok(objects.length > 10)
    const permitted = objects.filter(path => {
      const values = defaults()
      put(values, [...path, 'colour'], 'red')
      return !/ colour$/m.test(problemsOf(values))
    })
    // Resources have any name, such as hugepages-2Mi.
    assert.deepEqual(permitted, [
      ['resources', 'requests'],
      ['resources', 'limits'],
    ])
  })

  it('are those of the templates, each of which is used', () => {
    const templates = readdirSync(join(chart, 'templates')).map(name => textOf(join('templates', name)))
    const used = new Set(
      templates.flatMap(text => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path)),
    )
    const values = defaults()
    const valueAt = (path: string): unknown =>
      path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), values)
    assert.deepEqual(
      [...used].filter(path => valueAt(path) === undefined),
      [],
    )
    const unused = leavesOf(values).filter(
      leaf => ![...used].some(path => leaf === path || leaf.startsWith(`${path}.`)),
    )
    assert.deepEqual(unused, [])
  })
})

/** The paths of values that are no objects with values. */
const leavesOf = (values: Values, prefix = ''): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0 ? leavesOf(value, `${prefix}${name}.`) : [prefix + name],
  )
