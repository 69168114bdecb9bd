import type { JSX } from 'preact'

const [width, height] = [96, 24]

/** The last values as a line; the label says the newest. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): JSX.Element {
  const most = Math.max(1, ...values)
  const step = width / 39
  const points = values.map((value, i) => {
    const x = width - (values.length - 1 - i) * step
    return `${x.toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`
  })
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <polyline points={points.join(' ')} />
    </svg>
  )
}
