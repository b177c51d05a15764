'use strict';
// The end of a story: adds what is new, in order and once, however often it is told that there is something.
(() => {
  class RunTail extends HTMLElement {
    connectedCallback() {
      this.more = () => this.look();
      this.topics = this.dataset.topics.split(' ');
      for (const topic of this.topics) document.body.addEventListener(topic, this.more);
    }

    disconnectedCallback() {
      for (const topic of this.topics) document.body.removeEventListener(topic, this.more);
    }

    async look() {
      this.again = true;
      if (this.busy) return;
      this.busy = true;
      try {
        while (this.again && this.isConnected) {
          this.again = false;
          await this.add();
        }
      } finally {
        this.busy = false;
      }
    }

    async add() {
      const address = new URL(this.dataset.src, location.href);
      address.searchParams.set('after', this.dataset.last);
      const answer = await fetch(address, { headers: { 'HX-Request': 'true' } }).catch(() => null);
      if (!answer?.ok || !answer.headers.has('x-last')) return;
      const box = document.createElement('template');
      box.innerHTML = await answer.text();
      const lines = [...box.content.children];
      this.dataset.last = answer.headers.get('x-last');
      this.again ||= answer.headers.get('x-more') === 'yes';
      const list = this.list();
      for (const line of lines) {
        list.append(line);
        window.htmx.process(line);
      }
    }

    list() {
      let found = this.parentElement.querySelector('ol.story');
      if (!found) {
        found = document.createElement('ol');
        found.className = 'story';
        this.before(found);
      }
      return found;
    }
  }
  customElements.define('run-tail', RunTail);
})();
