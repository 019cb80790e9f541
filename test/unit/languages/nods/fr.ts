import { listed } from '../../../../shared/base/listed.ts';

export const french = {
  nods: listed(
    "ah vraiment|bon à savoir|intéressant|ah c'est bien|oh là là|c'est super|c'est bien|c'est intéressant|ah je vois|ah d'accord|ah ok|très bien ça|ah bien|ah super|ah génial|ah parfait",
    "c'est bon à savoir|ça me fait plaisir|content de l'entendre|ravie de l'entendre|tant mieux|ah tant mieux|oh c'est gentil|magnifique|oh magnifique|génial|formidable|fantastique|excellent|impeccable|nickel|top|merveilleux",
    "ça me va|ça me convient|ça a l'air bien|ça paraît bien|ça semble bien|c'est parfait|c'est bon|c'est noté|c'est entendu|c'est correct|c'est juste|c'est exact|c'est clair|c'est cool|c'est top|c'est génial",
    "c'est très intéressant|c'est très bien|c'est très gentil|c'est utile|très utile|très intéressant|vraiment intéressant|comme c'est intéressant|comme c'est gentil|ah mince|oh mon dieu|mon dieu|oh la vache|dis donc|ben dis donc",
    "sérieux|ah sérieux|c'est vrai ça|ah c'est vrai|ah oui c'est vrai|ah oui|ah oui d'accord|ah bon d'accord|sans blague|pas possible|tiens|tiens donc|ok super|ok parfait|ok très bien|ok d'accord|tout va bien",
    "oui d'accord|oui voilà|oui bien sûr|oui exactement|oui tout à fait|oui c'est ça|oui parfait|oui très bien|oui je vois|oui je comprends|oui effectivement|effectivement|exactement ça|vous avez raison|c'est pas faux|bonne idée|très bonne idée",
    "c'est logique|logique|ça se comprend|je comprends bien|je comprends mieux|je comprends maintenant|je vois bien|je sais|oui je sais|je sais bien|je ne savais pas|je m'en doutais|je pensais bien|je suis d'accord|j'ai compris|ah j'ai compris|j'entends bien|je vois ce que vous voulez dire",
    'évidemment|naturellement|certainement|sans doute|à merveille|bien entendu|bien noté|ben oui|mais oui|eh oui|eh bien|dieu merci|heureusement|ouf|quel soulagement|pas mal du tout|aucun souci|aucun problème',
  ),
  interruptions: listed(
    "stop|attendez|un instant|non|non non non|non merci|pas celui-là|excusez-moi|pardon|comment ça|quoi|c'était quoi|vous pouvez répéter|répétez s'il vous plaît|plus lentement|plus fort|je ne vous entends pas|qu'est-ce que vous voulez dire|qu'est-ce que c'est",
    "qui est-ce|combien|combien ça coûte|ça prend combien de temps|c'est quand|c'est où|lequel|pourquoi pas|pourquoi|à quelle heure|vendredi|lundi s'il vous plaît|à sept heures|pour quatre personnes|plutôt cinq|le bleu|le deuxième|le moins cher|plutôt demain|la semaine prochaine",
    "en fait non|j'ai changé d'avis|annulez|annulez ça|annulez ma commande|oubliez|laissez tomber|je n'en veux pas|je n'ai pas besoin de ça|c'est faux|ce n'est pas ça|ce n'est pas ce que j'ai demandé|ce n'est pas mon nom|je m'appelle Anna|c'est Dupont|non c'est Martin|je voulais dire mardi|j'ai dit quinze",
    "je peux vous demander quelque chose|je peux parler à quelqu'un|je veux un humain|passez-moi un conseiller|j'ai une question|une question|petite question|autre chose|mais j'ai déjà payé|mais attendez|mais c'est trop tard|mais pourquoi|oui mais pas aujourd'hui|d'accord mais combien|j'ai besoin d'aide|aidez-moi|je veux un remboursement|je veux payer",
    "je voudrais réserver|il me faut une facture|envoyez-le par mail|rappelez-moi|revenez en arrière|passez|suivant|recommencez|taisez-vous|écoutez-moi|allô|vous êtes là|vous avez un parking|le petit déjeuner est compris|c'est ouvert maintenant|c'est en supplément|et dimanche|plutôt six heures|trop cher|trop tard|trop tôt",
    "deux billets|trois nuits|avec vue|sans oignons|pour Paris|depuis l'aéroport|par carte|en espèces|avec ma femme|l'autre adresse|c'est cassé|ça ne marche pas|je suis pressé|je dois partir|je conduis|je n'ai pas fini|laissez-moi finir",
  ),
};
