"""Texts that no corpus of papers has anything on: other languages, everyday topics, nonsense."""

from __future__ import annotations

import random

LANGUAGES = (
    "Große Sprachmodelle geben Vorurteile wieder, die in ihren Trainingsdaten stehen. Wir schlagen ein "
    "Verfahren vor, das solche Vorurteile mit wenigen zusätzlichen Gewichten verringert.",
    "Wie verbreiten sich Gerüchte in sozialen Netzen?",
    "Les réseaux de neurones profonds exigent de grandes quantités de données annotées. Nous présentons une "
    "méthode d'apprentissage qui n'utilise que quelques exemples.",
    "La evolución de las galaxias depende de su entorno. Presentamos observaciones de doce cúmulos cercanos "
    "y medimos la tasa de formación estelar.",
    "Il presente lavoro studia la stabilità delle soluzioni di equazioni differenziali stocastiche con "
    "ritardo.",
    "Este artigo descreve um corpus anotado de conversas médicas em português e os primeiros experimentos.",
    "Dit onderzoek vergelijkt drie methoden om vertalingen automatisch te beoordelen.",
    "W pracy przedstawiono nową metodę segmentacji obrazów medycznych opartą na sieciach splotowych.",
    "Bu çalışmada Türkçe metinler için yeni bir sözcük gömme yöntemi öneriyoruz.",
    "В статье предложен новый метод машинного перевода для языков с малым количеством данных.",
    "本文提出了一种基于图神经网络的推荐算法,并在三个数据集上进行了实验。",
    "本研究では、日本語の対話システムのための新しい評価方法を提案する。",
    "نقترح في هذا البحث طريقة جديدة لتصنيف النصوص العربية باستخدام الشبكات العصبية.",
    "Vi undersöker hur barn lär sig läsa med hjälp av digitala böcker.",
)
TOPICS = (
    "Melt the butter, stir in the flour and add the milk slowly. Bake the gratin for forty minutes until "
    "golden.",
    "The striker scored twice before half time, and the home side kept a clean sheet for the third match.",
    "How do I remove red wine stains from a woollen carpet?",
    "The tenant shall give notice in writing three months before the end of the lease.",
    "The monastery was founded in 1134 by Cistercian monks and dissolved under Joseph II.",
    "Prune old roses in late winter, above an outward-facing bud, and feed them with compost.",
    "The soprano's phrasing in the second act was tender, though the orchestra covered her at times.",
    "Cheap flights to Lisbon with an overnight stay and breakfast",
    "The saddle height should let the knee bend slightly at the lowest point of the pedal stroke.",
    "Knit two, purl two to the end of the row, then cast off loosely.",
    "The candidate promised lower rents and more buses at yesterday's rally in the market square.",
    "Polish your shoes with a soft brush, let the wax dry and buff them with a cloth.",
    "Tuning a harpsichord before a concert of early baroque music",
    "The ferry to the island leaves at nine from the old harbour, except on Sundays.",
)
SYLLABLES = "ba do fri gul ha ix jo krem lu mip nor pla qua rus sti tov uz vex wil yar zon".split()


def nonsense(count: int, seed: int = 0) -> list[str]:
    """Words that look like words and mean nothing, in sentences of some length, and keys hit at random."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        if number % 4 == 3:
            made.append("".join(chance.choices("asdfghjklqwertzuiop ", k=60)))
            continue
        words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(18)]
        made.append(f"{' '.join(words[:9]).capitalize()}. {' '.join(words[9:]).capitalize()}.")
    return made
