'use strict';
// Charts come as SVG. Where one is on the page, chart.js is fetched and draws it again, with numbers under the pointer.
(() => {
  let fetched;
  const fetchLibrary = (address) => {
    fetched ??= new Promise((done, failed) => {
      const script = document.createElement('script');
      script.src = address;
      script.onload = () => done(window.Chart);
      script.onerror = () => { fetched = undefined; script.remove(); failed(); };
      document.head.append(script);
    });
    return fetched;
  };

  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  // The colour behind a name of the style sheet, in a way that every canvas knows.
  const colour = (name, alpha = 1) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim() || 'gray';
    pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue, seen] = pixel.getImageData(0, 0, 1, 1).data;
    return `rgb(${red} ${green} ${blue} / ${(alpha * seen) / 255})`;
  };
  const HUES = ['--hue-1', '--hue-3', '--hue-2', '--hue-4', '--hue-5'];
  const SIZES = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'k'], [1, '']];
  const shortly = (value) => {
    const left = Math.abs(value);
    const [size, unit] = SIZES.find(([least]) => left >= least && left < 1e15) ?? [1, ''];
    return `${value < 0 ? '−' : ''}${Number((left / size).toPrecision(4))}${unit}`;
  };
  const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4]];

  // Numbers stand on bars, and names at the ends of lines, so that nobody has to look them up.
  const onBars = (chart, short) => chart.data.datasets.forEach((set, number) => {
    chart.getDatasetMeta(number).data.forEach((bar, at) => {
      if (set.data[at] !== null) chart.ctx.fillText(short[number][at], bar.x, set.data[at] < 0 ? bar.y + 13 : bar.y - 4);
    });
  });
  const atEnds = (chart) => {
    const ends = chart.data.datasets.map((set, number) => {
      const at = set.data.findLastIndex((value) => value !== null);
      return { name: set.label, place: chart.getDatasetMeta(number).data[at]?.y ?? chart.chartArea.bottom };
    }).sort((one, other) => one.place - other.place);
    let free = chart.chartArea.top;
    ends.forEach(({ name, place }, rank) => {
      const last = chart.chartArea.bottom - 14 * (ends.length - rank - 1);
      const here = Math.min(Math.max(place, free), last);
      free = here + 14;
      chart.ctx.fillText(name.length > 14 ? `${name.slice(0, 13)}…` : name, chart.chartArea.right + 8, here + 4);
    });
  };
  const labels = {
    id: 'directLabels',
    afterDatasetsDraw(chart, _, { short, names }) {
      chart.ctx.save();
      chart.ctx.fillStyle = colour('--foreground');
      chart.ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      chart.ctx.textAlign = names ? 'start' : 'center';
      if (names) atEnds(chart);
      else if (short.length) onBars(chart, short);
      chart.ctx.restore();
    },
  };

  const settings = (told) => {
    const bars = told.kind === 'bar';
    const area = told.kind === 'area';
    const quiet = colour('--muted-foreground');
    const several = told.series.length > 1;
    return {
      type: bars ? 'bar' : 'line',
      data: {
        labels: told.labels,
        datasets: told.series.map((one, at) => ({
          label: one.label,
          data: one.values,
          backgroundColor: colour(HUES[at], area ? 0.22 : 1),
          hoverBackgroundColor: colour(HUES[at], area ? 0.22 : 0.8),
          borderColor: colour(HUES[at]),
          pointBackgroundColor: colour(HUES[at]),
          borderDash: bars ? [] : DASHES[at],
          borderWidth: bars ? 0 : 2,
          pointRadius: told.labels.length > 60 ? 0 : 3,
          fill: area ? 'origin' : false,
        })),
      },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: 'index', intersect: false },
        font: { family: getComputedStyle(document.body).fontFamily },
        layout: { padding: { top: 16, right: several && !bars ? 100 : 0 } },
        scales: {
          x: { stacked: told.stacked, grid: { display: false }, ticks: { color: quiet, maxRotation: 0 } },
          y: {
            stacked: told.stacked,
            beginAtZero: told.kind !== 'line',
            grid: { color: ({ tick }) => colour(tick?.value === 0 ? '--muted-foreground' : '--border') },
            ticks: { color: quiet, maxTicksLimit: 6, callback: (value) => shortly(value) },
          },
        },
        plugins: {
          directLabels: { short: told.short, names: several && !bars },
          legend: { display: false },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${told.series[item.datasetIndex].texts[item.dataIndex]}` } },
        },
      },
      plugins: [labels],
    };
  };

  const drawn = new Set();
  customElements.define('view-chart', class extends HTMLElement {
    connectedCallback() {
      this.seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        this.seen.disconnect();
        fetchLibrary(this.dataset.script).then((library) => this.draw(library), () => {});
      });
      this.seen.observe(this);
    }

    disconnectedCallback() {
      this.seen?.disconnect();
      this.chart?.destroy();
      this.chart = undefined;
      this.box?.remove();
      delete this.dataset.drawn;
      drawn.delete(this);
    }

    draw(library) {
      const picture = this.querySelector('svg.view-plot');
      if (!this.isConnected || !picture) return;
      this.chart?.destroy();
      this.box?.remove();
      this.box = document.createElement('div');
      this.box.className = 'view-canvas';
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', picture.getAttribute('aria-label'));
      this.box.append(canvas);
      picture.before(this.box);
      this.dataset.drawn = 'yes';
      this.chart = new library(canvas, settings(JSON.parse(this.dataset.chart)));
      drawn.add(this);
    }
  });

  new MutationObserver(() => { for (const one of drawn) one.draw(window.Chart); })
    .observe(document.documentElement, { attributes: true, attributeFilter: ['class'] });
})();
