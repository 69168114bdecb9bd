import assert from 'node:assert/strict'
import { fixture, jsonPatch, merge, post } from '../../../conformance/fixture.ts'
import type { Reply, Sent } from '../../../support/client.ts'
import { at, configMap, configMaps, done, hush, type Lair, refused } from './lair.ts'

export const doesNotStopTheServer = (scene: Lair): void => {
  describe('cannot stop the server', () => {
    const target = () => `${at(scene.lair)}${configMaps}`
    const yaml = { 'content-type': 'application/yaml' }
    const levels = (open: string, close: string, count: number) =>
      `${open.repeat(count)}1${close.repeat(count)}`
    const letters = 'abcdefghijklmnop'
    const bomb = [...letters]
      .map(
        (l, i) =>
          `${l}: &${l} [${Array(9)
            .fill(i ? `*${letters[i - 1]}` : 'x')
            .join(',')}]`,
      )
      .join('\n')
    const bodies: Readonly<Record<string, Sent>> = {
      'a body that is too long': post('x'.repeat(4_000_000)),
      'a body without a length': {
        ...post(JSON.stringify({ data: { a: 'x'.repeat(4_000_000) } }), { 'transfer-encoding': 'chunked' }),
      },
      'deep objects': post(levels('{"a":', '}', 100_000)),
      'deep lists': post(levels('[', ']', 500_000)),
      'deep YAML': post(levels('{a: ', '}', 50_000), yaml),
      'deep YAML lists': post(levels('- ', '', 50_000), yaml),
      'a YAML bomb': post(bomb, yaml),
      'a YAML alias of itself': post('a: &a [*a]', yaml),
      'a YAML key of a list': post('? [a, b]\n: c', yaml),
      'YAML with a tag': post('a: !!js/function "function(){}"', yaml),
      'many documents': post('a: 1\n---\n'.repeat(10_000), yaml),
      'many keys': post(
        JSON.stringify({
          ...configMap('keys'),
          spec: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i])),
        }),
      ),
      'a long number': post(`{"metadata":{"name":"n"},"data":${'9'.repeat(1_000_000)}}`),
      'many operations': jsonPatch(
        Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/metadata', value: {} })),
      ),
      'copies of copies': jsonPatch([
        { op: 'add', path: '/data/a', value: 'x'.repeat(100_000) },
        ...Array.from({ length: 100 }, (_, i) => ({
          op: 'copy',
          from: '/data',
          path: `/metadata/annotations/a${i}`,
        })),
      ]),
    }
    for (const [name, sent] of Object.entries(bodies))
      it(`with ${name}`, async () => {
        const url = sent.method === 'PATCH' ? `${target()}/kube-root-ca.crt` : target()
        const reply = await scene.mallory(url, sent)
        assert.ok(reply.status < 500, `${reply.status} ${reply.text.slice(0, 300)}`)
        done(await scene.mallory(target()))
      })

    it('with names such as __proto__ and constructor', async () => {
      const names = ['constructor', 'prototype', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']
      for (const name of names) {
        for (const url of [
          `/services/${name}/a/b/clusters/*/api`,
          `/services/apiexport/${name}/${name}/clusters/*/apis`,
          `/clusters/${name}/api`,
          `${at(scene.lair)}/apis/${name}/v1/${name}`,
          `${at(scene.lair)}/api/${name}/configmaps`,
          `${at(scene.lair)}/api/v1/${name}`,
          `${target()}/${name}`,
          `${target()}/kube-root-ca.crt/${name}`,
          `${target()}?fieldSelector=${name}%3D1`,
          `${at(scene.lair)}/openapi/v3/apis/${name}/v1`,
          `${at(scene.lair)}/apis/${name}`,
          `/${name}`,
        ]) {
          const { status, text } = await scene.mallory(url)
          assert.ok(status >= 400 && status < 500, `${url}: ${status} ${text.slice(0, 200)}`)
        }
        const listed = await scene.mallory(`${target()}?labelSelector=${name}%3D1&${name}=1`)
        assert.ok(listed.status < 500, listed.text)
      }
      const data = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}')
      const body = JSON.stringify({ ...configMap('constructor'), data })
      assert.deepEqual(
        Object.entries(done(await scene.mallory(target(), post(body)), 201).json().data as object),
        Object.entries(data),
      )
      const patch = '{"data":{"__proto__":"d"},"metadata":{"annotations":{"__proto__":"e"}}}'
      const reply = await scene.mallory(`${target()}/constructor`, { ...merge({}), body: patch })
      assert.ok(reply.status === 200 || reply.status === 422, reply.text)
      const other = done(await scene.mallory(target(), post(configMap('plain'))), 201).json()
      assert.deepEqual(
        [other.data, other.metadata.annotations],
        [{ word: hush }, { 'kcp.io/cluster': scene.lair.cluster }],
      )
    })

    it('with long URLs, many parameters and many headers', async () => {
      const tries: readonly (() => Promise<Reply>)[] = [
        () => scene.mallory(`${target()}?${'a'.repeat(100_000)}`),
        () => scene.mallory(`${target()}?${'labelSelector=a&'.repeat(700)}`),
        () => scene.mallory(`${target()}?labelSelector=${'a,'.repeat(5_000)}`),
        () => scene.mallory(`${target()}?labelSelector=${encodeURIComponent('('.repeat(3_000))}`),
        () => scene.mallory(`${target()}?fieldSelector=${'metadata.name%3Da,'.repeat(500)}`),
        () => scene.mallory(`${target()}${'/a'.repeat(5_000)}`),
        () => scene.mallory(target(), { headers: { accept: `${'application/x;a=b,'.repeat(500)}*/*` } }),
        () => scene.mallory(target(), { headers: { accept: 'a/b;'.repeat(2_000) } }),
        () =>
          scene.mallory(target(), {
            headers: Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`x-${i}`, 'a'])),
          }),
        () => scene.mallory(target(), { headers: { 'audit-id': 'a'.repeat(10_000) } }),
      ]
      for (const attempt of tries) {
        const status = await attempt().then(
          reply => reply.status,
          error => (error as NodeJS.ErrnoException).code,
        )
        assert.ok(
          typeof status === 'number' ? status < 500 : /ECONNRESET|EPIPE/.test(String(status)),
          String(status),
        )
      }
      done(await scene.mallory(target()))
    })

    it('with expensive schemas and patterns', async () => {
      const crds = `${at(scene.lair)}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
      const definition = (plural: string, spec: object): object => ({
        ...fixture,
        metadata: { name: `${plural}.evil.example.com` },
        spec: {
          group: 'evil.example.com',
          scope: 'Namespaced',
          names: { plural, kind: `K${plural}`, listKind: `K${plural}List`, singular: `k${plural}` },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
            },
          ],
        },
      })
      const pattern = {
        type: 'object',
        properties: { a: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } },
      }
      done(await scene.mallory(crds, post(definition('patterns', pattern))), 201)
      await scene.lair.kubectl(['wait', '--for=condition=Established', 'crd/patterns.evil.example.com'])
      const body = {
        apiVersion: 'evil.example.com/v1',
        kind: 'Kpatterns',
        metadata: { name: 'a' },
        spec: { a: 'a'.repeat(50_000) },
      }
      refused(
        await scene.mallory(
          `${at(scene.lair)}/apis/evil.example.com/v1/namespaces/default/patterns`,
          post(body),
        ),
        422,
      )
      const [open, close] = ['{"type":"object","properties":{"a":', '}}']
      const text = JSON.stringify(definition('nested', { nested: true }))
      const deep = text.replace(
        '{"nested":true}',
        `${open.repeat(4_000)}{"type":"object"}${close.repeat(4_000)}`,
      )
      const reply = await scene.mallory(crds, post(deep))
      assert.ok(reply.status < 500, reply.text.slice(0, 300))
      const lookaround = { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)b' } } }
      refused(await scene.mallory(crds, post(definition('lookarounds', lookaround))), 422)
      done(await scene.mallory(target()))
    })
  })
}
