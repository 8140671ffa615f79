// What a person with good eyes and a ruler would find on a page. Each function returns a list of
// complaints, at most 20.
({
	// where names an element, for a reader of the source.
	where(e) {
		const classes = [...e.classList].map(c => "." + c).join("");
		const action = e.dataset?.action ? `[data-action=${e.dataset.action}]` : "";
		return e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + classes + action;
	},

	// contrast finds text that stands out from its background by less than 4.5 to 1, as WCAG 2.1 counts it.
	contrast() {
		const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
		const known = new Map();
		const rgba = text => { // any colour of CSS, as it is painted
			if (!known.has(text)) {
				canvas.clearRect(0, 0, 1, 1);
				canvas.fillStyle = "#000";
				canvas.fillStyle = text;
				canvas.fillRect(0, 0, 1, 1);
				const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
				known.set(text, [r, g, b, a / 255]);
			}
			return known.get(text);
		};
		const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
		const paper = getComputedStyle(document.documentElement).colorScheme.includes("dark")
			&& matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
		const behind = e => { // all the backgrounds below an element, laid over one another
			const layers = [];
			for (; e; e = e.parentElement) layers.unshift(rgba(getComputedStyle(e).backgroundColor));
			return layers.reduce((below, layer) => over(layer, below), paper);
		};
		const light = colour => {
			const [r, g, b] = colour.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const found = [];
		for (const e of document.querySelectorAll("body, body *")) {
			const text = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data.trim()).join("");
			if (!text || !e.checkVisibility({visibilityProperty: true}) || e.matches(":disabled, title, option")) continue;
			const style = getComputedStyle(e);
			const ground = behind(e);
			const ink = over(rgba(e instanceof SVGElement ? style.fill : style.color), ground);
			let opacity = 1;
			for (let up = e; up; up = up.parentElement) opacity *= getComputedStyle(up).opacity;
			const [hi, lo] = [light(over([ink[0], ink[1], ink[2], opacity], ground)), light(ground)].sort((a, b) => b - a);
			const ratio = (hi + 0.05) / (lo + 0.05);
			if (ratio < 4.5) found.push(`${ratio.toFixed(2)}: ${JSON.stringify(text.slice(0, 40))} in ${this.where(e)}`);
		}
		return found.slice(0, 20);
	},

	// overflow finds what sticks out at the side, but for what scrolls in a box of its own.
	overflow() {
		const width = document.documentElement.clientWidth;
		const found = [];
		if (document.documentElement.scrollWidth > width) {
			found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
		}
		const scrolls = e => {
			for (let up = e.parentElement; up && up !== document.body; up = up.parentElement) {
				if (["auto", "scroll"].includes(getComputedStyle(up).overflowX)) return true;
			}
			return false;
		};
		for (const e of document.querySelectorAll("body *")) {
			if (e instanceof SVGElement && !(e instanceof SVGSVGElement)) continue;
			const r = e.getBoundingClientRect();
			if (e.checkVisibility() && r.width > 1 && r.right > width + 1 && !scrolls(e)) {
				found.push(`${this.where(e)} ends at ${Math.round(r.right)} in a window of ${width}`);
			}
		}
		return found.slice(0, 20);
	},

	// order finds what a page must have and has not.
	order() {
		const found = [];
		const one = (selector, want) => {
			const n = document.querySelectorAll(selector).length;
			if (n !== want) found.push(`${n} of ${selector}, want ${want}`);
		};
		one("html[lang]", 1);
		one("main", 1);
		one("h1", 1);
		one(`meta[name="viewport"]`, 1);
		if (!document.title) found.push("no title");
		if (!document.querySelector("nav a")) found.push("no nav with links");
		const skip = document.querySelector("body a");
		if (!skip?.hash || !document.querySelector(skip.hash)) found.push("the first link does not skip to the content");
		for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
			if (!e.labels?.length && !e.ariaLabel) found.push(`${this.where(e)} has no label`);
		}
		for (const e of document.querySelectorAll("a[href], button, summary")) {
			if (!e.textContent.trim() && !e.ariaLabel) found.push(`${this.where(e)} has no text`);
		}
		const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
		for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push(`two elements are #${id}`);
		return found.slice(0, 20);
	},

	// smuggled finds markup that no page of ours has: what somebody typed has become a part of the page.
	smuggled() {
		const found = [];
		if (window.pwned !== undefined) found.push(`a script has run: ${window.pwned}`);
		for (const e of document.querySelectorAll(`script:not([src]), img[src="x"], iframe, object, base, [href^="javascript:"]`)) {
			found.push(e.outerHTML.slice(0, 100));
		}
		for (const e of document.querySelectorAll("*")) {
			for (const a of e.attributes) {
				if (a.name.startsWith("on")) found.push(`${this.where(e)} has ${a.name}`);
			}
		}
		return found.slice(0, 20);
	},

	// unfocused tells whether the focus is somewhere and cannot be seen there.
	unfocused() {
		const e = document.activeElement;
		if (!e || e === document.body) return [];
		const style = getComputedStyle(e);
		const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== "none";
		const box = e.getBoundingClientRect();
		const inView = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
		return ring && inView ? [] : [`the focus cannot be seen on ${this.where(e)}`];
	},
})
