import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { apply } from '../../support/tenants.ts'
import { configMap, group, type Place, widget } from './scene.ts'

/** kubectl's commands that read (rules.md 10.5 to 10.9, 10.22 and 10.24). */
export function readingCases({ kubectl, name }: Place): void {
  it('explain, whole, by version, and from OpenAPI v2', async () => {
    const fields = await kubectl(['explain', 'widget.spec'])
    assert.match(
      fields,
      /What the widget is like\.[\s\S]*color\t<string>\n\s*enum: red, blue\n\s*Its color\./,
    )
    assert.match(await kubectl(['explain', 'widget', '--recursive']), /spec\t<Object>\n {4}color\t<string>/)
    assert.match(await kubectl(['explain', 'widget', `--api-version=${group}/v1`]), /^VERSION: +v1$/m)
    const old = await kubectl(['explain', 'widget.spec', '--output=plaintext-openapiv2'])
    assert.match(old, /color\t<string>\n {5}Its color\./)
    const unknown = await kubectl.try(['explain', 'widget.spec.shape'])
    assert.match(unknown.stderr, /field "shape" does not exist/)
  })

  it('api-resources and api-versions', async () => {
    // Real kcp's view serves no core group, which kubectl complains about after it has printed the others.
    const { stdout } = await kubectl.try(['api-resources', '-o', 'wide', `--api-group=${group}`])
    const line = stdout.split('\n')[1] ?? ''
    const [plural, short, version, namespaced, kind, verbs = '', category] = line.split(/ {2,}/)
    const sorted = verbs.split(',').sort().join(',')
    assert.deepEqual(
      [plural, short, version, namespaced, kind, sorted, category],
      [
        'widgets',
        'wd',
        `${group}/v1`,
        'true',
        'Widget',
        'create,delete,deletecollection,get,list,patch,update,watch',
        'all',
      ],
    )
    assert.ok((await kubectl(['api-versions'])).split('\n').includes(`${group}/v1`))
  })

  it('get, in every form', async () => {
    const label = { shown: name('forms') }
    await apply(
      kubectl,
      widget(name('form-a'), { color: 'red', size: 2 }, { labels: label }),
      widget(name('form-b'), { color: 'blue', size: 1 }, { labels: label }),
    )
    const get = (...args: readonly string[]) =>
      kubectl(['get', 'widgets', '-l', `shown=${name('forms')}`, ...args])
    const [a, b] = [name('form-a'), name('form-b')]
    assert.equal(await get('-o', 'name'), `widget.${group}/${a}\nwidget.${group}/${b}\n`)
    assert.equal(await get('-o', 'jsonpath={.items[*].spec.size}'), '2 1')
    const columns = 'custom-columns=N:.metadata.name,S:.spec.size'
    assert.match(await get('-o', columns, '--no-headers'), new RegExp(`^${a} +2\n${b} +1\n$`))
    assert.equal(
      await get('-o', 'name', '--sort-by=.spec.size'),
      `widget.${group}/${b}\nwidget.${group}/${a}\n`,
    )
    assert.match(await get('--sort-by=.spec.size'), new RegExp(`^NAME +COLOR\n${b} +blue\n${a} +red\n$`))
    assert.equal(await get('--chunk-size=1', '-o', 'name'), await get('-o', 'name'))
    assert.match(await get('-A', '-L', 'shown'), /^NAMESPACE +NAME +COLOR +SHOWN\ndefault +form-a/)
    assert.match(await get('-o', 'yaml', '--show-managed-fields'), /managedFields:/)
    assert.match(
      (await kubectl.try(['get', 'widgets', 'nobody'])).stderr,
      /^Error from server \(NotFound\): /,
    )
    assert.match((await kubectl.try(['get', 'nothings'])).stderr, /doesn't have a resource type "nothings"/)
  })

  it('get --raw', async () => {
    await apply(kubectl, widget(name('raw'), { color: 'red' }))
    const path = `${new URL(await serverOf()).pathname}/apis/${group}/v1/namespaces/default/widgets/${name('raw')}`
    assert.equal(JSON.parse(await kubectl(['get', '--raw', path])).spec.color, 'red')
  })
  /** The server that kubectl talks to. */
  const serverOf = async (): Promise<string> => {
    const { stderr } = await kubectl.try(['get', 'widgets', '-v=6'])
    return /(https:\S+)\/apis\/kubectl\.example\.com/.exec(stderr)?.[1] ?? ''
  }

  it('get -w -o wide', async () => {
    await apply(kubectl, widget(name('get'), { color: 'red', size: 1 }))
    let isOver = false
    const printed = kubectl
      .until(['get', 'widgets', name('get'), '-w', '-o', 'wide'], text => text.split('\n').length > 3)
      .finally(() => {
        isOver = true
      })
    for (let size = 2; !isOver; size++) await apply(kubectl, widget(name('get'), { color: 'red', size }))
    const lines = (await printed)
      .trimEnd()
      .split('\n')
      .map(line => line.split(/ +/))
    assert.deepEqual(lines[0], ['NAME', 'COLOR', 'SIZE'])
    assert.deepEqual(lines[1]?.slice(0, 2), [name('get'), 'red'])
    assert.ok(Number(lines[2]?.[2]) > Number(lines[1]?.[2]))
  })

  it('get --watch-only --output-watch-events', async () => {
    const watched = name('watched')
    let isOver = false
    const args = [
      'get',
      'widgets',
      '--watch-only',
      '--output-watch-events',
      `--field-selector=metadata.name=${watched}`,
    ]
    const printed = kubectl
      .until(args, text => /ADDED[\s\S]*DELETED.*\n/.test(text))
      .finally(() => {
        isOver = true
      })
    while (!isOver) {
      await apply(kubectl, widget(watched, { color: 'red' }))
      await kubectl(['delete', 'widget', watched])
    }
    assert.match(await printed, new RegExp(`^EVENT +NAME +COLOR$[\\s\\S]*^DELETED +${watched} +red$`, 'm'))
  })

  it('wait for values, conditions, creation and deletion', async () => {
    const resource = `widget/${name('wait')}`
    const created = kubectl(['wait', '--for=create', '--timeout=60s', resource])
    await apply(kubectl, widget(name('wait'), { color: 'red' }))
    assert.match(await created, /condition met/)
    const blue = kubectl(['wait', '--for=jsonpath={.spec.color}=blue', resource])
    await apply(kubectl, widget(name('wait'), { color: 'blue' }))
    assert.match(await blue, /condition met/)
    const ready = kubectl(['wait', '--for=condition=Ready', resource])
    const conditions = [{ type: 'Ready', status: 'True' }]
    await kubectl([
      'patch',
      resource,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status: { conditions } }),
    ])
    assert.match(await ready, /condition met/)
    const gone = kubectl(['wait', '--for=delete', resource])
    await kubectl(['delete', resource])
    await gone
  })

  it('events and describe', async () => {
    const about = name('eventful')
    await apply(kubectl, configMap(about))
    const { metadata } = await kubectl.json<KubeObject>(['get', 'configmap', about])
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${about}.1`, namespace: 'default' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: about,
        namespace: 'default',
        uid: metadata.uid,
      },
      reason: 'Seen',
      message: 'somebody looked',
      type: 'Normal',
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      count: 1,
      source: { component: 'test' },
    }
    await kubectl(['create', '-f', '-'], JSON.stringify(event))
    const events = await kubectl(['events', '--for', `configmap/${about}`])
    assert.match(events, new RegExp(`Normal +Seen +ConfigMap/${about} +somebody looked`))
    assert.match(await kubectl(['describe', 'configmap', about]), /Normal +Seen .*test +somebody looked/)
  })
}
