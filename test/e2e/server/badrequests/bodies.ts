import { post, widget } from '../../../conformance/fixture.ts'
import { type BadRequests, configMap, configMaps, text, widgets, yaml } from './request.ts'

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij']
  .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`)
  .join('\n')}\n`

export const bodies: BadRequests = {
  'bodies that are none': {
    'an unfinished object': {
      path: widgets,
      sent: text('{'),
      code: 400,
      reason: 'BadRequest',
      message: /unexpected end of JSON input|json parse error/,
    },
    nothing: { path: widgets, sent: post(''), code: 400 },
    'a list': { path: widgets, sent: text('[]'), code: 400, message: /cannot unmarshal array/ },
    null: { path: widgets, sent: text('null'), code: 400 },
    'a word': { path: widgets, sent: text('"x"'), code: 400, message: /cannot unmarshal string/ },
    'bytes that are no text': {
      path: widgets,
      sent: text(Buffer.from([0xff, 0xfe, 0x00]).toString('latin1')),
      code: 400,
    },
    'broken YAML': { path: widgets, sent: text('a: [', yaml), code: 400 },
    'a YAML list': { path: widgets, sent: text('- a', yaml), code: 400 },
    'deep JSON': { path: widgets, sent: text(deep(20_000)), code: 400, message: /exceeded max depth/ },
    'deep YAML': { path: widgets, sent: text(`${'{a: '.repeat(20_000)}`, yaml), code: 400 },
    'a YAML bomb': { path: widgets, sent: text(bomb, yaml), code: 400 },
    'a list in place of metadata': {
      path: widgets,
      sent: text('{"apiVersion":"example.com/v1","kind":"Widget","metadata":[]}'),
      code: 400,
    },
    'numbers for labels': { path: widgets, sent: post(widget('a', {}, { labels: { a: 1 } })), code: 400 },
    'a number for a name': { path: widgets, sent: post(widget('a', {}, { name: 1 })), code: 400 },
  },
  'objects of other kinds': {
    'another kind': {
      path: widgets,
      sent: post({ ...widget('a'), kind: 'Gadget' }),
      code: 422,
      message: /kind: Invalid value: "Gadget": must be Widget/,
    },
    'another version': {
      path: widgets,
      sent: post({ ...widget('a'), apiVersion: 'example.com/v2' }),
      code: 400,
      message:
        'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    },
    'another built-in kind': {
      path: configMaps,
      sent: post({ ...configMap('a'), kind: 'Secret' }),
      code: 400,
      message: /cannot be handled as a ConfigMap/,
    },
  },
}
